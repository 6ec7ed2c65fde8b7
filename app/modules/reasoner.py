"""R, the reasoner (QACheck, section 3.5): label and rationale from the kept hops, by the judge, a prompt or FLAN-T5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.model import Claim, Context, Hop, Label, Sentence, Verdict
from app.domain.ports import Chat, TextGenerator
from app.modules.judging import is_described, quoted_sentence, unmentioned_name
from app.modules.output_parsing import LABEL_WORDS, label_from, rationale_from
from app.modules.prompting import (
    EXAMPLE_DELIMITERS,
    TEXT,
    TEXT_OR_NULL,
    KnownHop,
    Quote,
    ask,
    attribution_sentence,
    build_chat,
    chat_case,
    choose_label,
    demonstrations,
    example_hops,
    few_shot,
    fill_template,
    known_hops_with_evidence,
    known_lines,
    label_question,
    one_line,
    one_of,
    quoted_texts,
)
from app.text.wording import names

_CLOSING = {
    Label.SUPPORTED: "This supports the claim.",
    Label.REFUTED: "This does not agree with the claim.",
    Label.NOT_ENOUGH_EVIDENCE: "None of this says whether the claim is true.",
    Label.CONFLICTING_EVIDENCE: "Some of this supports the claim, and some of it does not agree with it.",
}
OPPOSED = "One answer supports the claim, another does not agree with it."


def quotations(context: Context) -> tuple[Sentence, ...]:
    """Return the sentence in which each kept answer begins, with its title; each sentence once.

    A hop without citation is quoted as question and answer.
    """
    numbers_by_text: dict[str, list[int]] = {}
    for hop in context:
        numbers = numbers_by_text.setdefault(_quotation(hop), [])
        if hop.number not in numbers:
            numbers.append(hop.number)
    return tuple(Sentence(text, tuple(numbers)) for text, numbers in numbers_by_text.items())


def closing(label: Label, context: Context) -> Sentence:
    """Return the last sentence of the rationale: the result of all kept hops."""
    return Sentence(_CLOSING[label], tuple(hop.number for hop in context))


def missing_from(claim: Claim, context: Context) -> str:
    """Return a sentence for the page about the missing evidence."""
    if name := unmentioned_name(claim.text, context):
        return f"No passage that was read names {name}."
    named = [name for name in names(claim.text) if not name[0].isdigit()]
    about = f" about {' and '.join(named)}" if named else ""
    return f"Nothing that was read{about} says whether the claim is true."


def _quotation(hop: Hop) -> str:
    cited = hop.answer.cited if hop.answer else None
    if cited is None:
        return f"{hop.question.text} {hop.answer.text if hop.answer else ''}".strip()
    title, text = cited.passage.title, quoted_sentence(cited)
    if is_described(cited):  # not in the text of the article, so it is no quotation of it
        return f"{title}, short description: {text}"
    return quotation(title, text)


def quotation(title: str, text: str) -> str:
    """Return the sentence of a rationale that quotes `text` from the passage with this title."""
    return f"{title}: “{text}”" if title else text


MAX_TOKENS = 512
NEXT_CASE = "\nContexts:"
DEMONSTRATION_COUNT = 10


@dataclass(frozen=True)
class PromptedReasoner:
    """Implements `Reasoner` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with the model's rationale, or with quotations of the kept evidence if it has none.

        If the reply has no single label of `labels` (see `label_from`), the model is asked to choose one. Raises
        UnparseableOutput if it chooses none.
        """
        report_phase("weighing the evidence")
        prompt = reasoning_prompt(claim, context, labels)
        text = ask(
            self.model,
            prompt,
            str,
            max_tokens=MAX_TOKENS,
            stop=(NEXT_CASE,),
            chat=reasoning_chat(claim, context, labels),
            text_of=_conclusion,
        )
        hops = [hop.number for hop in context]
        confidence = None
        try:
            label, reasons = label_from(text, labels)
            rationale, missing = rationale_from(reasons, hops)
        except UnparseableOutput:
            rationale, missing = rationale_from(text, hops)
            reasons = " ".join(sentence.text for sentence in rationale)
            label, confidence = choose_label(self.model, f"{prompt} {reasons}\nLabel =", labels)
        if label is not Label.NOT_ENOUGH_EVIDENCE:
            missing = None
        elif missing is None:
            missing = missing_from(claim, context)
        return Verdict(label, rationale or quotations(context), missing, confidence)


def reasoning_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the prompt: the demonstrations for these labels and this case, up to the start of the rationale."""
    known, attribution = known_hops_with_evidence(claim, context), attribution_sentence(claim)
    return few_shot(
        _demonstration_texts(tuple(labels)),
        lambda quote: _case(claim.text, known, labels, quote, attribution),
        quoted_texts(known),
    )


def reasoning_chat(claim: Claim, context: Context, labels: Sequence[Label]) -> Chat:
    """Return the same as a chat, with one demonstration of each label."""
    known = known_hops_with_evidence(claim, context)
    question = label_question(labels)
    examples = (
        (chat_case(each["claim"], example_hops(each["known"]), EXAMPLE_DELIMITERS, question), _reply(each))
        for each in balanced(demonstrations("reasoning"), labels, len(labels))
    )
    return build_chat(
        "verdict",
        examples,
        lambda quote: chat_case(claim.text, known, quote, attribution_sentence(claim), question),
        quoted_texts(known),
        rationale=TEXT,
        missing=TEXT_OR_NULL,
        label=one_of(LABEL_WORDS[label] for label in labels),
    )


def _reply(demonstration: Mapping[str, Any]) -> Mapping[str, Any]:
    label = LABEL_WORDS[Label(demonstration["label"])]
    return {"rationale": demonstration["rationale"], "missing": demonstration.get("missing"), "label": label}


@lru_cache
def _demonstration_texts(labels: tuple[Label, ...]) -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], example_hops(each['known']), labels)} {_conclusion(_reply(each))}"
        for each in balanced(demonstrations("reasoning"), labels)
    )


def balanced(
    candidates: Iterable[Mapping[str, Any]], labels: Sequence[Label], count: int = DEMONSTRATION_COUNT
) -> list[Mapping[str, Any]]:
    """Return `count` of `candidates`, in order, spread evenly over `labels`; the last label gets the remainder."""
    left = dict.fromkeys(labels, count // len(labels))
    left[labels[-1]] += count % len(labels)
    chosen = []
    for each in candidates:
        label = Label(each["label"])
        if left.get(label, 0):
            left[label] -= 1
            chosen.append(each)
    return chosen


def _case(
    claim: str, known: Iterable[KnownHop], labels: Sequence[Label], quote: Quote = str, attribution: str = ""
) -> str:
    return fill_template(
        "reasoning",
        known=known_lines(known, quote),
        claim=one_line(claim),
        attribution_sentence=attribution,
        ask=label_question(labels),
    )


def _conclusion(reply: Mapping[str, Any]) -> str:
    missing = f"\nMissing = {one_line(reply['missing'])}" if reply["missing"] else ""
    return f"{reply['rationale']}{missing}\nLabel = {reply['label']}"


@dataclass(frozen=True)
class FlanT5Reasoner:
    """Implements `Reasoner`: the model chooses the label, and the rationale quotes the evidence it read."""

    seq2seq: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability among them. Propagates errors of the model."""
        report_phase("weighing the evidence")
        label, confidence = choose_label(self.seq2seq, flan_t5_prompt(claim, context, labels), labels)
        missing = missing_from(claim, context) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, (*quotations(context), closing(label, context)), missing, confidence)


def flan_t5_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the prompt. The question comes last, because a prompt that is too long loses its beginning."""
    known = known_hops_with_evidence(claim, context)
    return few_shot(
        (),
        lambda quote: fill_template(
            "flan_t5_reasoning",
            known=known_lines(known, quote),
            claim=one_line(claim.text),
            ask=label_question(labels),
        ),
        quoted_texts(known),
    )
