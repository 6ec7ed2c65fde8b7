"""Q, the question generator (QACheck, section 3.2): the next question to look up, or None if no new one is left.

The language model gets QACheck's two prompts. A small model's first questions are good, but half of its follow-ups are
repetitions, so its proposals compete with those derived from the claim's grammar. The same rules filter all proposals,
and the highest score is chosen:

    score = weight                  a claim question's own weight (up to 1), MODEL or MODEL_FOLLOWS_UP for the model's
          + AGREED                  if the model and the grammar propose the same question
          + BRIDGES                 if it contains a word of the last kept answer that the claim lacks
          + COVERS * coverage       the share of the claim's words, not yet in a kept pair, that it asks about
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.domain.errors import UnparseableOutput
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Question
from app.domain.ports import Completer
from app.domain.progress import entered
from app.modules.output_parsing import question_from
from app.modules.prompts import data, template
from app.modules.question_generator.entities import (
    SeenArticles,
    asked_as_it_is,
    looks_up_what_was_read,
    named_in,
    telling_names,
    told_by,
)
from app.modules.question_generator.filters import is_whole, points_back
from app.modules.question_generator.rules import proposals, resolved_claim
from app.modules.wording import asked_for, differ_in_names, names, same_question, stems
from app.text.sentences import sentences

MODEL, MODEL_FOLLOWS_UP, AGREED, BRIDGES, COVERS = 0.5, 0.1, 0.2, 0.3, 0.2
WELL_FOUNDED = 0.5
"""With a first question of this weight the model is asked only once, to shorten the visitor's wait."""

BEYOND_MODEL = MODEL + COVERS + 0.2
"""With a claim question of this score the model is not asked, since its own proposal could not score higher."""

MAX_TOKENS = 32
ANSWER_CHARACTERS = 120
"""Length to which a kept answer is cut in the prompt; the model needs only the names in it."""

OPENINGS = ("Who", "Where", "When", "What", "Which")
WITHIN = 0.75
"""Share of the shorter question's words from which two questions for one kind of thing are repetitions."""
REPEATS = 0.9
"""Share of the claim's words from which a question only repeats the claim."""


@dataclass(frozen=True)
class LocalQuestionGenerator:
    """Implements `QuestionGenerator` over any `Completer`. Propagates errors of the completer; holds no state."""

    model: Completer

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return the best question that was neither asked nor set aside, or None if no candidate is left."""
        entered("thinking of a question")
        rules = _Rules(claim, context, tuple(set_aside))
        scores = rules.proposed()
        if scores and max(weight + rules.bonus(text) for text, weight in scores.items()) >= BEYOND_MODEL:
            return _best(scores, rules)
        prompt = prompt_for(claim, context)
        for opening in ("", *OPENINGS):
            text = self._ask_model(prompt, opening)
            if text and rules.allow(text):
                _add(scores, text, MODEL_FOLLOWS_UP if context else MODEL)
            if scores and (context or max(scores.values()) >= WELL_FOUNDED):
                break
        return _best(scores, rules)

    def warm(self) -> None:
        """Ask the model once with each prompt, so that it is loaded and both demonstrations are computed.

        The stemmer and the sentence splitter are imported too.
        """
        shown = Claim(data("first_question")[0]["claim"])
        for taken_apart in (stems, sentences):
            taken_apart(shown.text)
        known = Hop(1, Question(data("first_question")[0]["question"]), Answer("Umberto Eco"), HopStatus.KEPT)
        for context in ((), (known,)):
            self._ask_model(prompt_for(shown, context), "")

    def _ask_model(self, prompt: str, opening: str) -> str | None:
        """Return the model's question after `opening`, or None if it wrote none."""
        begun = f"{prompt} {opening}".rstrip()
        text = self.model.complete(begun, max_tokens=MAX_TOKENS, stop=("\n",))
        try:
            return question_from(f"{opening} {text.strip()}" if opening else text).text
        except UnparseableOutput:
            return None


@dataclass(frozen=True)
class _Rules:
    """The conditions on a question, given the claim and every hop so far."""

    claim: Claim
    context: Context
    set_aside: tuple[Hop, ...]

    @cached_property
    def seen(self) -> SeenArticles:
        """Return the articles that were retrieved for the questions so far."""
        return SeenArticles.of((*self.context, *self.set_aside))

    def proposed(self) -> dict[str, float]:
        """Return the allowed questions derived from the claim, with the weight of each."""
        in_vain = bool(self.set_aside) and (not self.context or self.set_aside[-1].number > self.context[-1].number)
        scores: dict[str, float] = {}
        for each in proposals(self.claim, self.context, in_vain, self.seen):
            text = asked_as_it_is(each.text, self.seen)
            if self.allow(text):
                scores[text] = max(each.weight, scores.get(text, 0))
        return scores

    def allow(self, question: str) -> bool:
        """Return whether it asks one new, open question in words from the claim or a kept answer."""
        return bool(asked_for(question)) and not (
            len(sentences(question)) > 1
            or not is_whole(question)
            or (points_back(question) and bool(names(self.claim.text)))
            or self._was_asked(question)
            or any(self._adds_nothing(question, hop) for hop in self.context)
            or looks_up_what_was_read(question, self.context)
            or self._repeats_claim(question)
            or not self._is_grounded(question)
        )

    def _was_asked(self, question: str) -> bool:
        """Return whether a hop asked this, either literally or with a description replaced by the answer found."""
        forms = {question, resolved_claim(Claim(question), self.context)}
        hops = (*self.context, *self.set_aside)
        return any(_repeats(form, hop.question.text) for form in forms for hop in hops)

    def bonus(self, question: str) -> float:
        """Return the part of the score that depends on the kept hops."""
        brought = stems(_answer(self.context[-1])) - stems(self.claim.text) if self.context else frozenset()
        known = frozenset().union(*(stems(hop.question.text) | stems(_answer(hop)) for hop in self.context))
        still_open = stems(self.claim.text) - known
        covered = len(stems(question) & still_open) / len(still_open) if still_open else 0.0
        return (BRIDGES if brought & stems(question) else 0.0) + COVERS * covered

    def _adds_nothing(self, question: str, hop: Hop) -> bool:
        """Return whether it is a kept question with only words of its own answer added."""
        asked, words = stems(hop.question.text), stems(question)
        return asked_for(question) == asked_for(hop.question.text) and asked <= words <= asked | stems(_answer(hop))

    def _repeats_claim(self, question: str) -> bool:
        words = stems(self.claim.text)
        return len(words & stems(question)) >= REPEATS * len(words) if words else True

    def _is_grounded(self, question: str) -> bool:
        """Return whether it asks about the claim, as completed by the kept answers, and names nothing else.

        If no answer could be put into the claim, an answer that is a name may be asked about too. A name inside a
        longer answer, or a nationality, leads away from the claim ("Who was Dutch?"), unless its own article was
        retrieved and contains words of the claim that are still open.
        """
        resolved = resolved_claim(self.claim, self.context)
        known = stems(self.claim.text) | stems(resolved) | self._telling
        if resolved == " ".join(self.claim.text.split()):
            known = known.union(*(stems(_answer(hop)) for hop in self.context if _is_named(hop)))
        return bool(known & stems(question)) and all(stems(name) <= known for name in names(question))

    @cached_property
    def _telling(self) -> frozenset[str]:
        """Return the stems of names in answers and passages whose articles contain open words of the claim."""
        told = map(told_by, self.context)
        return stems(
            " ".join(name for text in told for name in telling_names(self.claim, self.context, text, self.seen))
        )


def _repeats(question: str, asked: str) -> bool:
    """Return whether `question` repeats `asked` in the same or nearly the same words, or with some left out."""
    if same_question(question, asked):
        return True
    words, known = stems(question), stems(asked)
    held = len(words & known) / min(len(words), len(known)) if words and known else 0.0
    return held >= WITHIN and asked_for(question) == asked_for(asked) and not differ_in_names(question, asked)


def _is_named(hop: Hop) -> bool:
    """Return whether the answer is one name or a list of names of persons, places or works."""
    return bool(named_in(_answer(hop))) and not hop.question.text.startswith("What nationality")


def _best(scores: dict[str, float], rules: _Rules) -> Question | None:
    """Return the question with the highest score, the first in a tie; None if there is none."""
    ranked = sorted(scores, key=lambda text: scores[text] + rules.bonus(text), reverse=True)
    return Question(ranked[0]) if ranked else None


def _add(scores: dict[str, float], text: str, weight: float) -> None:
    """Add the model's question, or raise the score of the claim question that asks the same."""
    twin = next((known for known in scores if same_question(known, text)), None)
    if twin is None:
        scores[text] = weight
    else:
        scores[twin] = max(scores[twin], weight) + AGREED


def prompt_for(claim: Claim, context: Context) -> str:
    """Return the demonstrations and this claim in QACheck's form, up to the start of the question."""
    name = "follow_up_question" if context else "first_question"
    known = [(hop.question.text, _answer(hop)[:ANSWER_CHARACTERS]) for hop in context]
    return _demonstrations(name) + _filled(name, " ".join(claim.text.split()), known)


def _demonstrations(name: str) -> str:
    return "".join(f"{line}\n\n" for line in _demonstrated(name))


def _demonstrated(name: str) -> Iterator[str]:
    for shown in data(name):
        yield f"{_filled(name, shown['claim'], shown.get('known', []))} {shown['question']}"


def _filled(name: str, claim: str, known: Sequence[Sequence[str]]) -> str:
    pairs = "\n".join(
        f"Question {number} = {question}\nAnswer {number} = {answer}"
        for number, (question, answer) in enumerate(known, start=1)
    )
    return template(name).substitute(claim=claim, known=pairs, number=len(known) + 1)


def _answer(hop: Hop) -> str:
    return " ".join((hop.answer.text or "").split()) if hop.answer else ""
