"""Modules with the papers' own prompts, to reproduce their tables: QACheck, Appendix A, and Papelo, Appendix B.

Unlike Hopcheck's own prompts, these do not delimit quoted material and do not list the questions that found no answer,
and no question is requested again after an unusable reply: use them for evaluation, not on a public site. The
demonstrations are Hopcheck's, without evidence. docs/reproduce.md compares the two, role by role.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Answer, Claim, Context, Hop, Label, Passage, Question, SearchHit, Sentence, Verdict
from app.domain.ports import Ask, Decide, FreeAnswer, TextGenerator
from app.modules.judging import citation, quotations
from app.modules.output_parsing import DECISION, label_from, question_from, questions_from, rationale_from
from app.modules.prompted import balanced, verdict_from
from app.modules.prompting import (
    KnownHop,
    ask,
    attribution,
    choose_label,
    demonstrations,
    few_shot,
    fill_template,
    known_hops,
    known_lines,
    label_question,
    numbered_hops,
    one_line,
    short_answer,
)
from app.text.sentences import sentences
from app.text.wording import is_new_question

Pair = tuple[str, str]
"""A question with its answer, each on one line."""


def _examples(name: str) -> list[tuple[str, list[KnownHop], dict[str, str]]]:
    """Return the demonstrations of prompts/`name`.json: claim, pairs without evidence, and the whole demonstration."""
    return [
        (each["claim"], numbered_hops(pair[:2] for pair in each.get("known", ())), each)
        for each in demonstrations(name)
    ]


# QACheck's claim verifier D, Appendix A.1.

PREDICTIONS = {"Yes": "Yes, we can know.", "No": "No, we cannot know."}


def verifier_prompts(claim: Claim, context: Context) -> tuple[str, None]:
    """Return the demonstrations and this case, up to the start of the prediction, and no chat."""

    def case(text: str, known: Iterable[KnownHop]) -> str:
        return fill_template("qacheck_sufficiency", claim=one_line(text), known=known_lines(known))

    examples = (
        f"{case(text, known)} {PREDICTIONS[more['prediction']]}" for text, known, more in _examples("sufficiency")
    )
    return few_shot(examples, lambda _: case(claim.text, known_hops(context)), ()), None


# QACheck's question generator Q, Appendix A.2.

QUESTION_TOKENS = 64
NEXT_CASE = "\nClaim ="
MAX_RETRIES = 4
"""How often a question that was asked before is requested again, each time with another seed."""


@dataclass(frozen=True)
class QACheckQuestioner:
    """Implements `QuestionGenerator`. Propagates errors of the model.

    The printed prompt does not list the pairs that were set aside, so that only another sampling leads to another
    question: `resampled(n)` is the model with the n-th seed of such samplings.
    """

    model: TextGenerator
    resampled: Callable[[int], TextGenerator]

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return the model's question; None if it is always one that was asked before."""
        report_phase(Code.THINKING())
        prompt = question_prompt(claim, context)
        asked = [hop.question.text for hop in (*context, *set_aside)]
        first = len(set_aside) * (1 + MAX_RETRIES)  # so that no seed is used twice for one prompt
        for number in range(first, first + 1 + MAX_RETRIES):
            model = self.resampled(number) if number else self.model
            question = ask(model, prompt, question_from, max_tokens=QUESTION_TOKENS, stop=(NEXT_CASE,))
            if is_new_question(question.text, asked):
                return question
        return None


def question_prompt(claim: Claim, context: Context) -> str:
    """Return the demonstrations and this case, up to the start of the question."""

    def case(text: str, known: Sequence[KnownHop]) -> str:
        if not known:
            return fill_template("qacheck_first_question", claim=one_line(text))
        lines = known_lines(known)
        return fill_template("qacheck_next_question", claim=one_line(text), known=lines, number=len(known) + 1)

    name = "follow_up_question" if context else "first_question"
    examples = (f"{case(text, known)} {more['question']}" for text, known, more in _examples(name))
    return few_shot(examples, lambda _: case(claim.text, known_hops(context)), ())


# QACheck's validator V, Appendix A.3.


def validator_prompts(claim: Claim, context: Context, hop: Hop) -> tuple[str, None]:
    """Return the demonstrations and this case, up to the start of the answer, and no chat."""

    def case(text: str, known: Iterable[KnownHop], question: str, answer: str) -> str:
        lines = "\n".join(_pair_text(each.question, each.answer) for each in known)
        pair = _pair_text(question, answer)
        return fill_template("qacheck_usefulness", claim=one_line(text), known=lines, pair=pair)

    examples = (
        f"{case(text, known, more['question'], more['answer'])} {more['prediction']}"
        for text, known, more in _examples("usefulness")
    )
    shown = claim.text, known_hops(context), hop.question.text, short_answer(hop)
    return few_shot(examples, lambda _: case(*shown), ()), None


def _pair_text(question: str, answer: str) -> str:
    return f"Question = {one_line(question)}\nAnswer = {answer}"


# QACheck's reasoner R, Appendix A.4.

VERDICT_TOKENS = 512
FINAL_ANSWER = "Therefore, the final answer is"
NEXT_CONTEXT = "\nContexts:"
_CITATION = re.compile(r" \[[\d, ]+\]")


@dataclass(frozen=True)
class QACheckReasoner:
    """Implements `Reasoner`, also for an empty context. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return the verdict with the label of the reply; without one, ask the model to choose the label.

        The prompt ends in FINAL_ANSWER, so that the reply may be the label alone: the rationale then quotes the pairs.
        If it has as many sentences as there are pairs, each sentence cites the pair at its position. Without pairs, it
        begins with the statement that the verdict is from the model's memory.
        """
        report_phase(Code.WEIGHING_EVIDENCE())
        prompt = reasoner_prompt(claim, context, labels)
        text = self.model.complete(prompt, max_tokens=VERDICT_TOKENS, stop=(NEXT_CONTEXT,)).lstrip(" :\n")
        confidence = None
        try:
            label, reasons = label_from(text, labels)
        except UnparseableOutput:
            reasons = text
            label, confidence = choose_label(self.model, f"{prompt} {one_line(text)}\n{FINAL_ANSWER}:", labels)
        rationale, _ = rationale_from(reasons, ())
        if len(rationale) == len(context):
            rationale = tuple(Sentence(each.text, (hop.number,)) for each, hop in zip(rationale, context, strict=True))
        if not context:
            disclosure = Sentence(Code.FROM_MEMORY(model=self.model.name))
            return Verdict(label, (disclosure, *rationale), None, confidence)
        return Verdict(label, rationale or quotations(context), None, confidence)


def reasoner_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the demonstrations for these labels and this case, up to the words before the label."""

    def case(text: str, pairs: Iterable[Pair], reasons: Iterable[str] = ()) -> str:
        lines = "\n".join(f"Q{at}: {question}\nA{at}: {answer}" for at, (question, answer) in enumerate(pairs, 1))
        ask_for = label_question(labels)
        about = {"known": lines, "claim": one_line(text), "ask": ask_for, "reasons": "\n".join(reasons)}
        return fill_template("qacheck_reasoning", **about)

    examples = (
        f"{case(each['claim'], [pair[:2] for pair in each['known']], sentences(uncited_rationale(each)))}: "
        f"{Label(each['label']).prompted.capitalize()}."
        for each in balanced(demonstrations("reasoning"), labels)
    )
    pairs = [(one_line(hop.question.text), short_answer(hop)) for hop in context]
    return few_shot(examples, lambda _: case(claim.text, pairs), ())


def uncited_rationale(demonstration: Mapping[str, Any]) -> str:
    return _CITATION.sub("", demonstration["rationale"])


# QACheck's claim-only baselines, Table 1, over any language model.


@dataclass(frozen=True)
class DirectClassifier:
    """Implements `ClaimOnlyClassifier`: asks for the label alone."""

    model: TextGenerator

    def verdict_on(self, claim: Claim, labels: Sequence[Label]) -> Verdict:
        report_phase(Code.ASKING_MODEL(model=self.model.name))
        prompt = fill_template("direct", claim=one_line(claim.text), ask=label_question(labels))
        return _from_memory(self.model, *choose_label(self.model, prompt, labels))


@dataclass(frozen=True)
class ChainOfThoughtClassifier:
    """Implements `ClaimOnlyClassifier`: ten demonstrations that think step by step; the label is in the last line."""

    model: TextGenerator

    def verdict_on(self, claim: Claim, labels: Sequence[Label]) -> Verdict:
        """Return the model's reasoning and final label; ask for a choice unless it names exactly one of `labels`."""
        report_phase(Code.ASKING_STEP_BY_STEP(model=self.model.name))

        def case(text: str) -> str:
            return fill_template("chain_of_thought", claim=one_line(text), ask=label_question(labels))

        examples = (
            f"{case(each['claim'])}\n{uncited_rationale(each)}\n{Label(each['label']).prompted}"
            for each in balanced(demonstrations("reasoning"), labels)
        )
        prompt = few_shot(examples, lambda _: case(claim.text), ())
        text = self.model.complete(prompt, max_tokens=VERDICT_TOKENS)
        label, rationale, _, confidence = verdict_from(self.model, text, labels, (), f"{prompt}\n")
        return _from_memory(self.model, label, confidence, rationale)


def _from_memory(
    model: TextGenerator, label: Label, confidence: float | None, reasons: tuple[Sentence, ...] = ()
) -> Verdict:
    disclosure = Sentence(Code.FROM_MEMORY(model=model.name))
    missing = Code.NO_EVIDENCE() if label is Label.NOT_ENOUGH_EVIDENCE else None
    return Verdict(label, (disclosure, *reasons), missing, confidence)


# Papelo, Appendix B: questions, steps and other wordings.

PURSUIT_TOKENS = 384


@dataclass(frozen=True)
class PapeloPursuer:
    """Implements `Pursuer`. Propagates errors of the model."""

    model: TextGenerator

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        report_phase(Code.THINKING() if n == 1 else Code.THINKING_OF_SEVERAL())
        prompt = fill_template("papelo_first", claim=one_line(claim.text), attribution=attribution(claim))
        return ask(self.model, prompt, questions_from, max_tokens=PURSUIT_TOKENS)[:n]

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide:
        report_phase(Code.DECIDING_OR_ASKING())
        known = "\n".join(f"Question {at}: {asked} Answer: {text}" for at, (asked, text) in enumerate(_pairs(context)))
        about = {"claim": one_line(claim.text), "attribution": attribution(claim), "known": known}
        return ask(self.model, fill_template("papelo_next", **about), papelo_step, max_tokens=PURSUIT_TOKENS)


def papelo_step(reply: str) -> Ask | Decide:
    """Return the decision that is marked in the reply, else its first sentence with a question mark, else all of it.

    A reply with both marks decides nothing. Raises UnparseableOutput for a reply without words.
    """
    marks = {mark.casefold() for mark in DECISION.findall(reply)}
    if len(marks) == 1:
        return Decide(marks == {"true"})
    if not any(letter.isalnum() for letter in DECISION.sub("", reply)):
        raise UnparseableOutput("The model wrote no question.")
    plain = one_line(reply)
    asked = (each for each in sentences(plain) if "?" in each and not DECISION.search(each))
    return Ask(Question(next(asked, plain)))


def _pairs(context: Context) -> list[Pair]:
    """Return the questions with their answers, which are not shortened."""
    return [(one_line(hop.question.text), one_line(hop.answer_text)) for hop in context]


@dataclass(frozen=True)
class PapeloParaphraser:
    """Implements `Paraphraser`: the paper asks for four wordings. Propagates errors of the model."""

    model: TextGenerator

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        report_phase(Code.REWORDING())
        prompt = fill_template("papelo_paraphrase", question=one_line(question.text))
        found = ask(self.model, prompt, questions_from, max_tokens=PURSUIT_TOKENS)
        return tuple(each for each in found if each != question)[:n]


# Papelo's LLMBestDoc and LLMAnswer.

DOCUMENT_TOKENS = 384
_NAMED = re.compile(r"Document\s+([0-9]+)")
"""The number that a reply chooses; without one it is the last of several, as in "Documents 0, 1 and 2"."""
_LAST_OF_SEVERAL = re.compile(r"Documents[ 0-9,]+and ([0-9]+)")


@dataclass(frozen=True)
class PapeloChooser:
    """Implements `DocumentChooser`. Propagates errors of the model."""

    model: TextGenerator

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        """Return the document that the reply names; the whole reply is the answer if it names none of the list."""
        report_phase(Code.CHOOSING_DOCUMENT(count=len(hits)))
        shown = (
            _document(f"Document {at}", hit.title, hit.site, hit.published, hit.snippet) for at, hit in enumerate(hits)
        )
        prompt = fill_template("papelo_choosing", documents="\n".join(shown), question=one_line(question.text))
        reply = one_line(self.model.complete(prompt, max_tokens=DOCUMENT_TOKENS))
        found = _NAMED.search(reply) or _LAST_OF_SEVERAL.search(reply)
        number = int(found[1]) if found else len(hits)
        return hits[number] if number < len(hits) else FreeAnswer(reply)


@dataclass(frozen=True)
class PapeloReader:
    """Implements `Reader`: the whole reply is the answer. Propagates errors of the model."""

    model: TextGenerator

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer:
        """Return the reply, citing the sentence nearest to it of a single passage; text None for an empty reply."""
        is_one = len(passages) == 1
        names = ["Document"] if is_one else [f"Document {at}" for at in range(len(passages))]
        shown = (
            _document(name, each.title, each.source, each.published, each.text)
            for name, each in zip(names, passages, strict=True)
        )
        prompt = fill_template("papelo_answer", documents="\n".join(shown), question=one_line(question.text))
        reply = one_line(self.model.complete(prompt, max_tokens=DOCUMENT_TOKENS))
        cited = citation(reply, question.text, passages) if is_one and reply else None
        return Answer(reply or None, cited, tuple(passages), "papelo reader")


def _document(name: str, title: str, site: str, published: str | None, text: str) -> str:
    """Return `name (title, from site, published date): text`, without unknown parts."""
    parts = (title, site and f"from {site}", published and f"published {published}")
    about = ", ".join(part for part in parts if part)
    return one_line(f"{name} ({about}): {text}" if about else f"{name}: {text}")


# Papelo's LLMVerify: the late verdict.

CHOICES = {label: (chr(ord("A") + at), label.choice) for at, label in enumerate(Label)}
_MARK = re.compile(rf"\[\s*\[\s*([{''.join(mark for mark, _ in CHOICES.values())}])\s*\]\s*\]")


@dataclass(frozen=True)
class PapeloReasoner:
    """Implements `Reasoner`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return the label whose mark is in the reply. Raises UnparseableOutput without a mark or with several."""
        report_phase(Code.WEIGHING_EVIDENCE())
        text = self.model.complete(verdict_prompt(claim, context, labels), max_tokens=PURSUIT_TOKENS)
        named = {label for label in labels if CHOICES[label][0] in _MARK.findall(text)}
        if len(named) != 1:
            raise UnparseableOutput(f"{self.model.name} gave none of the marks that it was asked for, or several.")
        rationale, _ = rationale_from(_MARK.sub("", text), ())
        return Verdict(named.pop(), rationale or quotations(context))


def verdict_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the prompt with the choices for these labels; the paper prints it for two and for four."""
    *choices, last = (f"({CHOICES[label][0]}) {CHOICES[label][1]}" for label in labels)
    *marks, last_mark = (f"[[{CHOICES[label][0]}]]" for label in labels)
    return fill_template(
        "papelo_verdict",
        claim=one_line(claim.text),
        known="\n".join(f"{at}. {asked} {text}" for at, (asked, text) in enumerate(_pairs(context))),
        choices=f"{', '.join(choices)}, or {last}",
        marks=f"{', '.join(marks)}{',' if len(marks) > 1 else ''} or {last_mark}",
    )
