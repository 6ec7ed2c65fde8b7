"""Modules with the papers' own prompts, to reproduce their tables: QACheck, Appendix A, and Papelo, Appendix B.

Unlike Hopcheck's own prompts, these do not delimit quoted material and do not list the questions that found no answer,
and no question is requested again after an unusable reply: use them for evaluation, not on a public site. The
demonstrations are Hopcheck's, without evidence. docs/modules.md compares the two, role by role.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.model import (
    Answer,
    Claim,
    Context,
    Hop,
    Label,
    Passage,
    Question,
    SearchHit,
    Sentence,
    Span,
    Verdict,
)
from app.domain.ports import Ask, Decide, FreeAnswer, TextGenerator
from app.modules.claim_verifier import PromptedClaimVerifier
from app.modules.output_parsing import LABEL_WORDS, label_from, question_from, questions_from, rationale_from, step_from
from app.modules.prompting import (
    KnownHop,
    ask,
    attribution,
    choose_label,
    demonstrations,
    example_hops,
    fill_template,
    known_hops,
    known_lines,
    label_question,
    one_line,
    short_answer,
)
from app.modules.qa_validator import PromptedValidator
from app.modules.reasoner import balanced, quotations
from app.text.wording import same_question

Pair = tuple[str, str]
"""A question with its answer, each on one line."""


def _pair_texts(context: Context) -> list[Pair]:
    return [(one_line(hop.question.text), short_answer(hop)) for hop in context]


def _examples(name: str) -> list[tuple[str, list[KnownHop], dict[str, str]]]:
    """Return the demonstrations of prompts/`name`.json: claim, pairs without evidence, and the whole demonstration."""
    return [
        (each["claim"], example_hops(pair[:2] for pair in each.get("known", ())), each) for each in demonstrations(name)
    ]


def _join_cases(examples: Iterable[str], case: str) -> str:
    return "\n\n".join((*examples, case))


# QACheck's claim verifier D, Appendix A.1.

PREDICTIONS = {"Yes": "Yes, we can know.", "No": "No, we cannot know."}


class QACheckVerifier(PromptedClaimVerifier):
    """Asks with QACheck's prompt, in text."""

    def _prompts(self, claim: Claim, context: Context) -> tuple[str, None]:
        return verifier_prompt(claim, context), None


def verifier_prompt(claim: Claim, context: Context) -> str:
    """Return the demonstrations and this case, up to the start of the prediction."""

    def case(text: str, known: Iterable[KnownHop]) -> str:
        return fill_template("qacheck_sufficiency", claim=one_line(text), known=known_lines(known))

    examples = (
        f"{case(text, known)} {PREDICTIONS[more['prediction']]}" for text, known, more in _examples("sufficiency")
    )
    return _join_cases(examples, case(claim.text, _numbered(context)))


def _numbered(context: Context) -> list[KnownHop]:
    """Return the kept pairs numbered from 1: QACheck's context has only them."""
    return [hop._replace(number=number) for number, hop in enumerate(known_hops(context), start=1)]


# QACheck's question generator Q, Appendix A.2.

QUESTION_TOKENS = 64
NEXT_CASE = "\nClaim ="


@dataclass(frozen=True)
class QACheckQuestioner:
    """Implements `QuestionGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return the model's question; None if it was asked before, since the same prompt would give it again."""
        report_phase("thinking of a question")
        prompt = question_prompt(claim, context)
        question = ask(self.model, prompt, question_from, max_tokens=QUESTION_TOKENS, stop=(NEXT_CASE,))
        asked = (hop.question.text for hop in (*context, *set_aside))
        return None if any(same_question(question.text, one) for one in asked) else question


def question_prompt(claim: Claim, context: Context) -> str:
    """Return the demonstrations and this case, up to the start of the question."""

    def case(text: str, known: Sequence[KnownHop]) -> str:
        if not known:
            return fill_template("qacheck_first_question", claim=one_line(text))
        lines = known_lines(known)
        return fill_template("qacheck_next_question", claim=one_line(text), known=lines, number=len(known) + 1)

    name = "follow_up_question" if context else "first_question"
    examples = (f"{case(text, known)} {more['question']}" for text, known, more in _examples(name))
    return _join_cases(examples, case(claim.text, _numbered(context)))


# QACheck's validator V, Appendix A.3.


class QACheckValidator(PromptedValidator):
    """Asks with QACheck's prompt, in text."""

    def _prompts(self, claim: Claim, context: Context, hop: Hop) -> tuple[str, None]:
        return validator_prompt(claim, context, hop), None


def validator_prompt(claim: Claim, context: Context, hop: Hop) -> str:
    """Return the demonstrations and this case, up to the start of the answer."""

    def case(text: str, known: Iterable[KnownHop], question: str, answer: str) -> str:
        lines = "\n".join(_pair_text(each.question, each.answer) for each in known)
        head = f"We already know the following:\n{lines}" if lines else ""
        pair = _pair_text(question, answer)
        return fill_template("qacheck_usefulness", claim=one_line(text), known=head, pair=pair)

    examples = (
        f"{case(text, known, more['question'], more['answer'])} {more['prediction']}"
        for text, known, more in _examples("usefulness")
    )
    return _join_cases(examples, case(claim.text, known_hops(context), hop.question.text, short_answer(hop)))


def _pair_text(question: str, answer: str) -> str:
    return f"Question = {one_line(question)}\nAnswer = {answer}"


# QACheck's reasoner R, Appendix A.4.

VERDICT_TOKENS = 512
FINAL_ANSWER = "Therefore, the final answer is:"
NEXT_CONTEXT = "\nContexts:"
_CITATION = re.compile(r" \[[\d, ]+\]")


@dataclass(frozen=True)
class QACheckReasoner:
    """Implements `Reasoner`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return the verdict with the label at the end of the reply; without one, ask the model to choose the label.

        If the rationale has as many sentences as there are pairs, each sentence cites the pair at its position.
        """
        report_phase("weighing the evidence")
        prompt = reasoner_prompt(claim, context, labels)
        text = self.model.complete(prompt, max_tokens=VERDICT_TOKENS, stop=(NEXT_CONTEXT,))
        confidence = None
        try:
            label, reasons = label_from(text, labels)
        except UnparseableOutput:
            reasons = text
            label, confidence = choose_label(self.model, f"{prompt} {one_line(text)} {FINAL_ANSWER}", labels)
        rationale, _ = rationale_from(reasons, ())
        if len(rationale) == len(context):
            rationale = tuple(Sentence(each.text, (hop.number,)) for each, hop in zip(rationale, context, strict=True))
        return Verdict(label, rationale or quotations(context), None, confidence)


def reasoner_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the demonstrations for these labels and this case, up to the start of the answer."""

    def case(text: str, pairs: Iterable[Pair]) -> str:
        lines = "\n".join(f"Q{at}: {question}\nA{at}: {answer}" for at, (question, answer) in enumerate(pairs, 1))
        return fill_template("qacheck_reasoning", known=lines, claim=one_line(text), ask=label_question(labels))

    examples = (
        f"{case(each['claim'], [pair[:2] for pair in each['known']])} {uncited_rationale(each)} {FINAL_ANSWER} "
        f"{LABEL_WORDS[Label(each['label'])].capitalize()}."
        for each in balanced(demonstrations("reasoning"), labels)
    )
    return _join_cases(examples, case(claim.text, _pair_texts(context)))


def uncited_rationale(demonstration: Mapping[str, Any]) -> str:
    """Return the rationale of a demonstration without its citations."""
    return _CITATION.sub("", demonstration["rationale"])


# Papelo, Appendix B: questions and steps.

PURSUIT_TOKENS = 384


@dataclass(frozen=True)
class PapeloPursuer:
    """Implements `Pursuer`. Propagates errors of the model."""

    model: TextGenerator

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return the first `n` questions that the model lists."""
        report_phase("thinking of a question" if n == 1 else "thinking of questions")
        prompt = fill_template("papelo_first", claim=one_line(claim.text), attribution=attribution(claim))
        return ask(self.model, prompt, questions_from, max_tokens=PURSUIT_TOKENS)[:n]

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide:
        """Return a decision or one more question."""
        report_phase("deciding, or thinking of one more question")
        return ask(self.model, _fill_pairs("papelo_next", claim, context), step_from, max_tokens=PURSUIT_TOKENS)


def _fill_pairs(name: str, claim: Claim, context: Context, **fields: str) -> str:
    """Return the template filled with the claim and its pairs, numbered from 0; answers are not shortened."""
    texts = (one_line((hop.answer.text if hop.answer else None) or "") for hop in context)
    known = "\n".join(
        f"Question {at}: {one_line(hop.question.text)} Answer: {text}"
        for at, (hop, text) in enumerate(zip(context, texts, strict=True))
    )
    return fill_template(name, claim=one_line(claim.text), attribution=attribution(claim), known=known, **fields)


# Papelo's LLMBestDoc and LLMAnswer.

DOCUMENT_TOKENS = 384
_DOCUMENT = re.compile(r"\bdoc(?:ument)?s?\W*(\d{1,3})\b", re.IGNORECASE)


@dataclass(frozen=True)
class PapeloChooser:
    """Implements `DocumentChooser`. Propagates errors of the model."""

    model: TextGenerator

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        """Return the document that the reply names by its number from 0; the whole reply as the answer if none."""
        report_phase(f"choosing one of {len(hits)} documents")
        shown = "\n".join(
            _document(f"Document {at}", hit.title, hit.site, hit.published, hit.snippet) for at, hit in enumerate(hits)
        )
        prompt = fill_template("papelo_choosing", documents=shown, question=one_line(question.text))
        reply = one_line(self.model.complete(prompt, max_tokens=DOCUMENT_TOKENS))
        named = (int(number) for number in _DOCUMENT.findall(reply))
        number = next((each for each in named if each < len(hits)), None)
        return FreeAnswer(reply) if number is None else hits[number]


@dataclass(frozen=True)
class PapeloReader:
    """Implements `Reader`: the whole reply is the answer. Propagates errors of the model."""

    model: TextGenerator

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer:
        """Return the reply, citing the passage if there is only one; text None for an empty reply."""
        shown = "\n".join(
            _document(f"Document {at}", each.title, each.source, each.published, each.text)
            for at, each in enumerate(passages)
        )
        prompt = fill_template("papelo_answer", documents=shown, question=one_line(question.text))
        reply = one_line(self.model.complete(prompt, max_tokens=DOCUMENT_TOKENS))
        cited = Span(passages[0], 0, len(passages[0].text)) if len(passages) == 1 else None
        return Answer(reply or None, cited if reply else None, tuple(passages), "papelo reader")


def _document(name: str, title: str, site: str, published: str | None, text: str) -> str:
    """Return `name (title, from site, published date): text`, without unknown parts."""
    parts = (title, site and f"from {site}", published and f"published {published}")
    about = ", ".join(part for part in parts if part)
    return one_line(f"{name} ({about}): {text}" if about else f"{name}: {text}")


# Papelo's LLMVerify: the late verdict.

CHOICES = {
    Label.SUPPORTED: ("A", "fully supported by the evidence"),
    Label.REFUTED: ("B", "contradicted by it"),
    Label.NOT_ENOUGH_EVIDENCE: ("C", "insufficient information"),
    Label.CONFLICTING_EVIDENCE: ("D", "conflicting evidence"),
}
_MARK = re.compile(r"\[\[\s*([A-D])\s*\]\]")


@dataclass(frozen=True)
class PapeloReasoner:
    """Implements `Reasoner`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return the label whose mark is in the reply. Raises UnparseableOutput without a mark or with several."""
        report_phase("weighing the evidence")
        text = self.model.complete(verdict_prompt(claim, context, labels), max_tokens=PURSUIT_TOKENS)
        named = {label for label in labels if CHOICES[label][0] in _MARK.findall(text)}
        if len(named) != 1:
            raise UnparseableOutput(f"{self.model.name} gave none of the marks that it was asked for, or several.")
        rationale, _ = rationale_from(_MARK.sub("", text), ())
        return Verdict(named.pop(), rationale or quotations(context))


def verdict_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the prompt with the choices for these labels; the paper prints it for two and for four."""
    choices = [f"({CHOICES[label][0]}) {CHOICES[label][1]}" for label in labels]
    marks = [f"[[{CHOICES[label][0]}]]" for label in labels]
    return _fill_pairs("papelo_verdict", claim, context, choices=_with_or(choices), marks=_with_or(marks))


def _with_or(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} or {parts[-1]}"
