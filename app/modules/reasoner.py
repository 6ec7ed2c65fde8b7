"""R, the reasoner (QACheck, section 3.5): label and rationale from the kept hops, by the judge, a prompt or FLAN-T5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.messages import Code, Message
from app.domain.model import Claim, Context, Hop, Label, Passage, Sentence, Verdict
from app.domain.ports import Chat, TextGenerator
from app.modules.judging import is_described, quoted_sentence, unmentioned_name
from app.modules.output_parsing import LABEL_WORDS, label_from, rationale_from
from app.modules.prompting import (
    TEXT,
    TEXT_OR_NULL,
    PromptedRole,
    Quote,
    ask,
    attribution_sentence,
    chat_case,
    choose_label,
    demonstrations,
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
    Label.SUPPORTED: Code.SUPPORTS,
    Label.REFUTED: Code.DISAGREES,
    Label.NOT_ENOUGH_EVIDENCE: Code.SAYS_NOTHING,
    Label.CONFLICTING_EVIDENCE: Code.MIXED,
}


def quotations(context: Context) -> tuple[Sentence, ...]:
    """Return the sentence in which each kept answer begins, each once; question and answer without a citation."""
    found: dict[str, Sentence] = {}
    for quoted in map(_quotation, context):
        earlier = found.get(str(quoted.text), quoted)
        found[str(quoted.text)] = replace(quoted, hops=tuple(dict.fromkeys((*earlier.hops, *quoted.hops))))
    return tuple(found.values())


def closing(label: Label, context: Context) -> Sentence:
    """Return the last sentence of the rationale: the result of all kept hops."""
    return Sentence(_CLOSING[label](), tuple(hop.number for hop in context))


def missing_from(claim: Claim, context: Context) -> Message:
    """Return the missing evidence."""
    if name := unmentioned_name(claim.text, context):
        return Code.NAME_NOT_READ(name=name)
    named = [name for name in names(claim.text) if not name[0].isdigit()]
    return Code.NOTHING_SAYS_ABOUT(names=" and ".join(named)) if named else Code.NOTHING_SAYS()


def _quotation(hop: Hop) -> Sentence:
    cited = hop.answer.cited if hop.answer else None
    if cited is None:
        return Sentence(f"{hop.question.text} {hop.answer.text if hop.answer else ''}".strip(), (hop.number,))
    text = quoted_sentence(cited)
    if is_described(cited):  # not in the text of the article, so it is no quotation of it
        return Sentence(Code.DESCRIPTION(title=cited.passage.title, text=text), (hop.number,))
    return quotation(cited.passage, text, hop.number)


def quotation(passage: Passage, quote: str, hop: int) -> Sentence:
    """Return the sentence of a rationale that quotes words of a passage."""
    return Sentence(f"{passage.title}: “{quote}”" if passage.title else quote, (hop,), quote)


MAX_TOKENS = 512
NEXT_CASE = "\nContexts:"
DEMONSTRATION_COUNT = 10


@dataclass(frozen=True)
class PromptedReasoner:
    """Implements `Reasoner` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with the model's rationale, or with quotations of the kept evidence if it has none."""
        report_phase(Code.WEIGHING_EVIDENCE())
        prompt, chat = reasoning_prompts(claim, context, labels)
        text = ask(self.model, prompt, str, max_tokens=MAX_TOKENS, stop=(NEXT_CASE,), chat=chat, text_of=_conclusion)
        hops = [hop.number for hop in context]
        label, rationale, lacking, confidence = verdict_from(self.model, text, labels, hops, f"{prompt} ")
        missing = (lacking or missing_from(claim, context)) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, rationale or quotations(context), missing, confidence)


def verdict_from(
    model: TextGenerator, text: str, labels: Sequence[Label], hops: Sequence[int], begun: str
) -> tuple[Label, tuple[Sentence, ...], str | None, float | None]:
    """Return label, rationale, missing evidence and confidence of a reply that follows the prompt `begun`.

    If it has no single label of `labels` (see `label_from`), the model is asked to choose one. Raises UnparseableOutput
    if it chooses none.
    """
    try:
        label, reasons = label_from(text, labels)
        return label, *rationale_from(reasons, hops), None
    except UnparseableOutput:
        rationale, missing = rationale_from(text, hops)
        reasons = " ".join(str(sentence.text) for sentence in rationale)
        label, confidence = choose_label(model, f"{begun}{reasons}\nLabel =", labels)
        return label, rationale, missing, confidence


def _role(labels: Sequence[Label]) -> PromptedRole:
    question = label_question(labels)
    return PromptedRole(
        "verdict",
        lambda case, quote: fill_template(
            "reasoning",
            known=known_lines(case["known"], quote),
            claim=one_line(case["claim"]),
            attribution_sentence=case.get("attribution", ""),
            ask=question,
        ),
        lambda example: _conclusion(_reply(example)),
        lambda case, quote: chat_case(case["claim"], case["known"], quote, case.get("attribution", ""), question),
        _reply,
    )


def reasoning_prompts(claim: Claim, context: Context, labels: Sequence[Label]) -> tuple[str, Chat]:
    """Return the prompt with the demonstrations for these labels, and as a chat with one of each label."""
    known, candidates = known_hops_with_evidence(claim, context), demonstrations("reasoning")
    case = {"claim": claim.text, "known": known, "attribution": attribution_sentence(claim)}
    named = one_of(LABEL_WORDS[label] for label in labels)
    schema = {"rationale": TEXT, "missing": TEXT_OR_NULL, "label": named}
    examples, few = balanced(candidates, labels), balanced(candidates, labels, len(labels))
    return _role(labels).prompts(examples, few, case, quoted_texts(known), **schema)


def _reply(demonstration: Mapping[str, Any]) -> Mapping[str, Any]:
    label = LABEL_WORDS[Label(demonstration["label"])]
    return {"rationale": demonstration["rationale"], "missing": demonstration.get("missing"), "label": label}


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


def _conclusion(reply: Mapping[str, Any]) -> str:
    missing = f"\nMissing = {one_line(reply['missing'])}" if reply["missing"] else ""
    return f"{reply['rationale']}{missing}\nLabel = {reply['label']}"


@dataclass(frozen=True)
class FlanT5Reasoner:
    """Implements `Reasoner`: the model chooses the label, and the rationale quotes the evidence it read."""

    seq2seq: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability among them. Propagates errors of the model."""
        report_phase(Code.WEIGHING_EVIDENCE())
        known, ask_for = known_hops_with_evidence(claim, context), label_question(labels)

        def case(quote: Quote) -> str:  # the question comes last, because a prompt that is too long loses its beginning
            about = {"known": known_lines(known, quote), "claim": one_line(claim.text), "ask": ask_for}
            return fill_template("flan_t5_reasoning", **about)

        label, confidence = choose_label(self.seq2seq, few_shot((), case, quoted_texts(known)), labels)
        missing = missing_from(claim, context) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, (*quotations(context), closing(label, context)), missing, confidence)
