"""R, the reasoner: label and rationale from the kept hops (QACheck, section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Label, Sentence, Verdict
from app.domain.progress import entered
from app.modules.judging.arithmetic import compared
from app.modules.judging.evidence import Evidence, Excerpt
from app.modules.judging.scoring import EvidenceJudge, Probabilities
from app.modules.question_generator.local import LocalExplainer
from app.modules.reasoner.rationale import closing, missing_from, quotations

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
        missing = missing_from(claim) if label is Label.NOT_ENOUGH_EVIDENCE else None
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
