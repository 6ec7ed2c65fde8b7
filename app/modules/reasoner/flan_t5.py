"""R by FLAN-T5 end to end, from evidence and claim to the label (QACheck, section 3.5, its second reasoner)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Label, Verdict
from app.domain.ports import TextGenerator
from app.domain.progress import entered
from app.modules.prompting import (
    choose_label,
    few_shot,
    filled,
    kept_evidence,
    known_lines,
    label_question,
    one_line,
    quoted_texts,
)
from app.modules.reasoner.rationale import closing, missing_from, quotations


@dataclass(frozen=True)
class FlanT5Reasoner:
    """Implements `Reasoner`: the model chooses the label, and the rationale quotes the evidence it read."""

    seq2seq: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability among them. Propagates errors of the model."""
        entered("weighing the evidence")
        label, confidence = choose_label(self.seq2seq, flan_t5_prompt(claim, context, labels), labels)
        missing = missing_from(claim) if label is Label.NOT_ENOUGH_EVIDENCE else None
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
