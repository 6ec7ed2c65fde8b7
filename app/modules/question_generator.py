"""Q, the question generator (QACheck, section 3.2), and the explanation of a verdict.

The local generator is a small fine-tuned model (research/training/question_model.py) that continues a transcript of the
run with the next question, or with a verdict when no question is needed. Its questions are filtered: they must be new
and name only what the claim, a kept answer or the title that it cites names. If none passes, it asks about retrieved
articles that the claim names. After the verdict the same model writes one sentence of explanation, which is used only
if its names and numbers are in the claim or the evidence.

Any other language model is prompted with demonstrations (QACheck, Appendix A.2). Its questions need only be new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.model import Claim, Context, Hop, HopStatus, Label, Question
from app.domain.ports import Chat, Completer, TextGenerator
from app.modules.output_parsing import question_from
from app.modules.prompting import (
    EXAMPLE_DELIMITERS,
    TEXT,
    KnownHop,
    Quote,
    ask,
    build_chat,
    chat_case,
    demonstrations,
    example_hops,
    few_shot,
    fill_template,
    known_hops,
    known_lines,
    one_line,
    quoted_texts,
)
from app.text.wording import bare_title, names, same_question, stems

MAX_TOKENS = 40
MAX_ANSWER_CHARACTERS = 120
NOT_FOUND = "not found"
QUESTION, VERDICT, EXPLANATION = "Question:", "Verdict:", "Explanation:"
VERDICT_WORDS = {Label.SUPPORTED: "true", Label.REFUTED: "false"}
OPENINGS = ("", "Which", "Who", "When", "Where", "What", "How")
"""Beginnings of a question, given to the model in this order until a question passes the filters."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class LocalQuestionGenerator:
    """Implements `QuestionGenerator` with a small local model. Propagates its errors; holds no state."""

    model: Completer
    demonstrations: str = ""
    """Transcripts put before the run's own, for a model that was not fine-tuned."""

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return the first proposal that passes the filters; None if none does or the model writes a verdict."""
        report_phase("thinking of a question")
        hops = sorted((hop for hop in (*context, *set_aside) if hop.question.text), key=lambda hop: hop.number)
        prompt = self.demonstrations + transcript(claim, hops)
        # A verdict can follow only from a new answer.
        if hops and hops[-1].status is HopStatus.KEPT and self._continue(prompt, "").startswith(VERDICT):
            return None
        for text in chain(self._proposals(prompt), look_ups(claim, hops)):
            if is_askable(text, claim, hops):
                return Question(text)
        return None

    def warm(self) -> None:
        """Ask once, so that the model is loaded and the first visitor does not wait for it."""
        self._continue(self.demonstrations + transcript(Claim("Warsaw lies in Poland."), ()), QUESTION)

    def _proposals(self, prompt: str) -> Iterator[str]:
        for opening in OPENINGS:
            begun = f" {opening}" if opening else ""
            yield f"{opening}{self._continue(prompt, f'{QUESTION}{begun}')}".strip()

    def _continue(self, prompt: str, begun: str) -> str:
        return self.model.complete(prompt + begun, max_tokens=MAX_TOKENS, stop=("\n",))


@dataclass(frozen=True)
class LocalExplainer:
    """Explains in one sentence why a claim is supported or refuted. Propagates errors of the model."""

    model: Completer

    def explain(self, claim: Claim, context: Context, label: Label, evidence: str) -> str | None:
        """Return the model's sentence; None for a label without VERDICT_WORDS, and for a text that must not be shown.

        It must end with a full stop and have no name or number that neither claim nor `evidence` has.
        """
        if label not in VERDICT_WORDS:
            return None
        prompt = f"{transcript(claim, context)}{VERDICT} {VERDICT_WORDS[label]}\n{EXPLANATION}"
        text = self.model.complete(prompt, max_tokens=MAX_TOKENS, stop=("\n", "<|im_end|>")).strip()
        return text if text.endswith(".") and is_grounded(text, f"{claim.text} {evidence}") else None


def is_grounded(text: str, known: str) -> bool:
    """Return whether each number and each word of a name in `text` is in `known`."""
    words, numbers = stems(known), set(_NUMBER.findall(known))
    return set(_NUMBER.findall(text)) <= numbers and all(stems(name) <= words for name in names(text))


def transcript(claim: Claim, hops: Sequence[Hop]) -> str:
    """Return the run so far in the model's training format; a hop that was set aside has no answer."""
    pairs = "".join(f"{QUESTION} {hop.question.text}\nAnswer: {_answer(hop)}\n" for hop in hops)
    return f"Claim: {' '.join(claim.text.split())}\n{pairs}"


def is_askable(question: str, claim: Claim, hops: Sequence[Hop]) -> bool:
    """Return whether `question` is complete, new and about what is known.

    It and each of its names must share a word with the claim, a kept answer or a title that a kept answer cites.
    """
    if not question.endswith("?") or len(question.split()) < 3:
        return False
    if any(same_question(question, hop.question.text) for hop in hops):
        return False
    known = stems(claim.text).union(*(stems(text) for hop in hops for text in _answer_texts(hop)))
    return bool(known & stems(question)) and all(stems(name) & known for name in names(question))


def look_ups(claim: Claim, hops: Sequence[Hop]) -> Iterator[str]:
    """Yield a question about each retrieved, uncited article that the claim names: hop by hop, best first.

    Without hops, yield one about each name of the claim.
    """
    cited = {hop.answer.cited.passage.title for hop in hops if hop.answer and hop.answer.cited}
    claim_words = stems(claim.text)
    for hop in hops:
        for passage in hop.answer.retrieved if hop.answer else ():
            title = bare_title(passage.title)
            if passage.title not in cited and stems(title) and stems(title) <= claim_words:
                yield f"What is {title}?"
    if not hops:
        yield from (f"What is {name}?" for name in names(claim.text))


def _answer(hop: Hop) -> str:
    text = hop.answer.text if hop.answer and hop.status is HopStatus.KEPT else None
    return " ".join((text or NOT_FOUND).split())[:MAX_ANSWER_CHARACTERS]


def _answer_texts(hop: Hop) -> Iterator[str]:
    if hop.answer and hop.status is HopStatus.KEPT:
        yield hop.answer.text or ""
        if hop.answer.cited:
            yield hop.answer.cited.passage.title


MAX_REPLY_TOKENS = 64
FRUITLESS_HEADING = "We have already asked these in vain:"
ASKED_HEADING = "All of these were asked already, so ask none of them again:"
# Each attempt has another instruction: a request whose reply could not be read is not sent again in the same run.
FIRST_INSTRUCTIONS = ("", "Write this one question, with its question mark, and nothing else.")
INSTRUCTIONS_AFTER_FAILURE = (
    "Do not judge the claim. Write one line: a question that begins with a word like Who, What, When, Where or Which.",
    "Reply with one short question, which ends with a question mark, and with no other word.",
)
"""The instructions after a hop that failed before it had a question."""
NEXT_CASE = "\nClaim ="
"""Stop sequence: without it the model continues with a case of its own."""


@dataclass(frozen=True)
class PromptedQuestioner:
    """Implements `QuestionGenerator` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return a new question; None if the model repeats one although the prompt lists those asked before.

        Raises UnparseableOutput if the text has no whole question, or one with more than MAX_QUESTION_WORDS words.
        """
        report_phase("thinking of a question")
        in_vain = [hop.question.text for hop in set_aside if hop.question.text]
        asked = [*(hop.question.text for hop in context), *in_vain]
        has_failed_hop = not all(hop.question.text for hop in set_aside)
        question = self._ask(claim, context, _previous(FRUITLESS_HEADING, in_vain), has_failed_hop)
        if _is_new(question, asked):
            return question
        question = self._ask(claim, context, _previous(ASKED_HEADING, asked), has_failed_hop)
        return question if _is_new(question, asked) else None

    def _ask(self, claim: Claim, context: Context, previous: str, has_failed_hop: bool) -> Question:
        """Return the model's question. If it writes other text, ask once more for the question alone."""
        first, second = INSTRUCTIONS_AFTER_FAILURE if has_failed_hop else FIRST_INSTRUCTIONS
        try:
            return self._written(claim, context, previous, first)
        except UnparseableOutput:
            return self._written(claim, context, previous, second)

    def _written(self, claim: Claim, context: Context, previous: str, instruction: str) -> Question:
        return ask(
            self.model,
            question_prompt(claim, context, previous, instruction),
            question_from,
            max_tokens=MAX_REPLY_TOKENS,
            stop=(NEXT_CASE,),
            chat=question_chat(claim, context, previous, instruction),
        )


def question_prompt(claim: Claim, context: Context, previous: str = "", instruction: str = "") -> str:
    """Return the prompt: the demonstrations and this case, up to the start of the question.

    `previous` lists the questions asked before.
    """
    is_first = not context and not previous
    known = known_hops(context)
    return few_shot(
        _demonstration_texts(is_first),
        lambda quote: _case(claim.text, known, is_first, quote, previous, instruction),
        quoted_texts(known),
    )


def question_chat(claim: Claim, context: Context, previous: str = "", instruction: str = "") -> Chat:
    """Return the same as a chat, with two demonstrations of a first question and two of a later one."""
    known = known_hops(context)
    chosen = (*demonstrations("first_question")[:2], *demonstrations("follow_up_question")[:2])
    examples = (
        (
            chat_case(each["claim"], example_hops(each.get("known", ())), EXAMPLE_DELIMITERS),
            {"question": each["question"]},
        )
        for each in chosen
    )
    return build_chat(
        "question",
        examples,
        lambda quote: chat_case(claim.text, known, quote, previous, instruction),
        quoted_texts(known),
        question=TEXT,
    )


@lru_cache
def _demonstration_texts(is_first: bool) -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], example_hops(each.get('known', ())), is_first)} {each['question']}"
        for each in demonstrations("first_question" if is_first else "follow_up_question")
    )


def _case(
    claim: str, known: Iterable[KnownHop], is_first: bool, quote: Quote = str, previous: str = "", instruction: str = ""
) -> str:
    if is_first:
        return fill_template("lm_first_question", claim=one_line(claim), also=instruction)
    lines = known_lines(known, quote)
    head = f"We already know the following:\n{lines}\n" if lines else ""
    return fill_template("lm_next_question", claim=one_line(claim), known=head + previous, also=instruction)


def _previous(heading: str, questions: Sequence[str]) -> str:
    """Return the heading and the questions, one per line; "" if there are none."""
    return "\n".join([heading, *(f"- {one_line(question)}" for question in questions)]) if questions else ""


def _is_new(question: Question, asked: Iterable[str]) -> bool:
    return not any(same_question(question.text, one) for one in asked)
