"""R, the reasoner: label and rationale from the kept hops (QACheck, section 3.5): local, by prompting, by FLAN-T5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import entered
from app.domain.model import Claim, Context, Hop, Label, Passage, Sentence, Span, Verdict
from app.domain.ports import TextGenerator
from app.modules.answer_comparison import compared
from app.modules.judging import Evidence, EvidenceJudge, Excerpt, Probabilities, quoted_sentence, unread_name
from app.modules.output_parsing import LABEL_WORDS, label_from, rationale_from
from app.modules.prompting import (
    Known,
    Quote,
    choose_label,
    data,
    few_shot,
    filled,
    kept_evidence,
    known_lines,
    label_question,
    made,
    one_line,
    quoted_texts,
    shown_pairs,
)
from app.modules.question_generator import LocalExplainer
from app.text.sentences import content_words, sentence_spans
from app.text.wording import names


def nearest_sentence(said: str, passages: Sequence[Passage]) -> Span:
    """The sentence that shares most words with `said`; those of the title count as said in every sentence.

    Of equals the first wins, so the best passage's. Raises ValueError when there is no sentence at all.
    """
    wanted = content_words(said)
    spans = [Span(passage, *place) for passage in passages for place in sentence_spans(passage.text)]

    def shared(span: Span) -> int:
        return len(wanted & content_words(f"{span.passage.title} {span.text}"))

    return max(spans, key=shared)


_CLOSING = {
    Label.SUPPORTED: "Together this supports the claim.",
    Label.REFUTED: "This does not agree with the claim.",
    Label.NOT_ENOUGH_EVIDENCE: "This does not settle the claim.",
    Label.CONFLICTING_EVIDENCE: "Some of this supports the claim, and some of it does not agree with it.",
}


def quotations(context: Context, first: Excerpt | None = None) -> tuple[Sentence, ...]:
    """Return the sentences that the kept answers begin in, with their titles, `first` before them.

    Each sentence comes once, with all its hops. Question and answer where nothing is cited.
    """
    hops: dict[str, list[int]] = {_quoted(first.title, first.text): [first.hop]} if first else {}
    for hop in context:
        numbers = hops.setdefault(_quotation(hop), [])
        if hop.number not in numbers:
            numbers.append(hop.number)
    return tuple(Sentence(text, tuple(numbers)) for text, numbers in hops.items())


def closing(label: Label, context: Context) -> Sentence:
    """Return the last sentence of the rationale: the result of all kept hops together."""
    return Sentence(_CLOSING[label], tuple(hop.number for hop in context))


def missing_from(claim: Claim, context: Context) -> str:
    """Return what is missing, in a sentence for the page."""
    if name := unread_name(claim.text, context):
        return f"No passage that was read names {name}."
    named = names(claim.text)
    about = f" about {' and '.join(named)}" if named else ""
    return f"The evidence kept{about} does not say whether the claim holds."


def _quotation(hop: Hop) -> str:
    answer = hop.answer
    if answer is None or answer.cited is None:
        return f"{hop.question.text} {answer.text if answer else ''}".strip()
    return _quoted(answer.cited.passage.title, quoted_sentence(answer.cited))


def _quoted(title: str, text: str) -> str:
    return f"{title}: “{text}”" if title else text


OPEN_SUPPORTED = 0.25
"""Share of p(not enough evidence) that counts as SUPPORTED where only two labels may be given.

Fitted on runs of an earlier judge: a claim for which a run finds nothing is more often false than true.
"""


@dataclass(frozen=True)
class JudgeReasoner:
    """Implements `Reasoner`: the likeliest label, with an explanation and the sentences that decide.

    With NOT_ENOUGH_EVIDENCE allowed, SUPPORTED and REFUTED need the probability `sufficient`. Where
    CONFLICTING_EVIDENCE is allowed, it is given when one hop alone supports and another refutes that surely.
    """

    judge: EvidenceJudge
    sufficient: float
    explainer: LocalExplainer | None = None

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability; no probability is given with NOT_ENOUGH_EVIDENCE."""
        entered("weighing the evidence")
        if Label.CONFLICTING_EVIDENCE in labels and (hops := self.judge.conflict(claim, context, self.sufficient)):
            text = f"Hop {hops[0].number} supports the claim and hop {hops[1].number} does not agree with it."
            opposed = Sentence(text, tuple(sorted(hop.number for hop in hops)))
            return Verdict(Label.CONFLICTING_EVIDENCE, (*quotations(context), opposed))
        labels = [label for label in labels if label is not Label.CONFLICTING_EVIDENCE]
        found = self.judge.evidence(claim, context)
        label, confidence = self._label(self.judge.score_of(claim, context, found), labels)
        if Label.NOT_ENOUGH_EVIDENCE in labels and unread_name(claim.text, context):
            label, confidence = Label.NOT_ENOUGH_EVIDENCE, None
        missing = missing_from(claim, context) if label is Label.NOT_ENOUGH_EVIDENCE else None
        decides = self.judge.deciding(claim, found, label) if confidence is not None else None
        return Verdict(label, self._why(claim, context, label, found, decides), missing, confidence)

    def _why(
        self, claim: Claim, context: Context, label: Label, found: Evidence, decides: Excerpt | None
    ) -> tuple[Sentence, ...]:
        order = compared(claim, context)
        quoted = (*((order.sentence,) if order else ()), *quotations(context, None if order else decides))
        evidence = " ".join(f"{one.title} {one.text}" for one in found.excerpts)
        said = self.explainer.explain(claim, context, label, evidence) if self.explainer and not order else None
        if said:
            return (Sentence(said, tuple(hop.number for hop in context)), *quoted)
        return (*quoted, closing(label, context))

    def _label(self, probabilities: Probabilities, labels: Sequence[Label]) -> tuple[Label, float | None]:
        if Label.NOT_ENOUGH_EVIDENCE not in labels:
            supported = probabilities[Label.SUPPORTED] + OPEN_SUPPORTED * probabilities[Label.NOT_ENOUGH_EVIDENCE]
            return (Label.SUPPORTED, supported) if supported >= 0.5 else (Label.REFUTED, 1 - supported)
        likely = max(labels, key=lambda label: probabilities[label])
        if likely is Label.NOT_ENOUGH_EVIDENCE or probabilities[likely] < self.sufficient:
            return Label.NOT_ENOUGH_EVIDENCE, None
        return likely, probabilities[likely]


MAX_TOKENS = 512
NEXT_CASE = "\nContexts:"
DEMONSTRATIONS = 10


@dataclass(frozen=True)
class PromptedReasoner:
    """Implements `Reasoner` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with the model's reasons, or with quotations of the kept evidence if it gave none.

        The label is read from the last line; if that names none, the model is asked to choose one. Raises
        UnparseableOutput if it chooses none.
        """
        entered("weighing the evidence")
        prompt = reasoning_prompt(claim, context, labels)
        text = self.model.complete(prompt, max_tokens=MAX_TOKENS, stop=(NEXT_CASE,))
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
    """Return the demonstrations for these labels and this case, up to the start of the rationale."""
    known = kept_evidence(claim, context)
    by = f"The claim was made{made(claim)}." if made(claim) else ""
    return few_shot(
        _shown(tuple(labels)), lambda quote: _case(claim.text, known, labels, quote, by), quoted_texts(known)
    )


@lru_cache
def _shown(labels: tuple[Label, ...]) -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], shown_pairs(each['known']), labels)} {_conclusion(each)}"
        for each in balanced(data("reasoning"), labels)
    )


def balanced(shown: Iterable[Mapping[str, Any]], labels: Sequence[Label]) -> list[Mapping[str, Any]]:
    """Return DEMONSTRATIONS of `shown`, in order, spread evenly over `labels`; the last label gets the remainder."""
    left = dict.fromkeys(labels, DEMONSTRATIONS // len(labels))
    left[labels[-1]] += DEMONSTRATIONS % len(labels)
    chosen = []
    for each in shown:
        label = Label(each["label"])
        if left.get(label, 0):
            left[label] -= 1
            chosen.append(each)
    return chosen


def _case(claim: str, known: Iterable[Known], labels: Sequence[Label], quote: Quote = str, by: str = "") -> str:
    fields = {"known": known_lines(known, quote), "claim": one_line(claim), "made": by}
    return filled("reasoning", **fields, ask=label_question(labels))


def _conclusion(shown: Mapping[str, Any]) -> str:
    missing = f"\nMissing = {shown['missing']}" if "missing" in shown else ""
    return f"{shown['rationale']}{missing}\nLabel = {LABEL_WORDS[Label(shown['label'])]}"


@dataclass(frozen=True)
class FlanT5Reasoner:
    """Implements `Reasoner`: the model chooses the label, and the rationale quotes the evidence it read."""

    seq2seq: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability among them. Propagates errors of the model."""
        entered("weighing the evidence")
        label, confidence = choose_label(self.seq2seq, flan_t5_prompt(claim, context, labels), labels)
        missing = missing_from(claim, context) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, (*quotations(context), closing(label, context)), missing, confidence)


def flan_t5_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the prompt, evidence first and question last, because a prompt that is too long loses its beginning."""
    known = kept_evidence(claim, context)
    return few_shot(
        (),
        lambda quote: filled(
            "flan_t5_reasoning",
            known=known_lines(known, quote),
            claim=one_line(claim.text),
            ask=label_question(labels),
        ),
        quoted_texts(known),
    )
