"""R, the reasoner: the label and its rationale from the kept hops (QACheck, section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Label, Sentence, Verdict
from app.domain.ports import EntailmentModel
from app.domain.progress import entered
from app.modules.judging.evidence import gathered
from app.modules.judging.gaps import SURE_DESPITE_GAPS, gap
from app.modules.judging.scoring import conflict, weigh
from app.modules.reasoner.rationale import closing, further_quotations, mentions, missing_from, quotations

OPEN_SUPPORTED = 0.25
"""Share of the open probability that counts as SUPPORTED when only two labels are allowed.

Fitted on runs (docs/judge.md): a claim for which a run finds nothing is more often false than true.
"""


@dataclass(frozen=True)
class JudgeReasoner:
    """Choose the likeliest label over the kept evidence; the rationale quotes the sentences that contain the answers.

    When NOT_ENOUGH_EVIDENCE is allowed, a decided label needs the probability `sufficient`, and SUPPORTED needs
    SURE_DESPITE_GAPS if the evidence has a gap. CONFLICTING_EVIDENCE, when allowed, needs one hop that supports and
    another that refutes, each with at least `sufficient` by itself.
    """

    judge: EntailmentModel
    sufficient: float

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability among them."""
        entered("weighing the evidence")
        if Label.CONFLICTING_EVIDENCE in labels and (hops := conflict(self.judge, claim, context, self.sufficient)):
            told = f"Hop {hops[0].number} supports the claim and hop {hops[1].number} does not agree with it."
            opposed = Sentence(told, tuple(sorted(hop.number for hop in hops)))
            return Verdict(Label.CONFLICTING_EVIDENCE, (*quotations(context), opposed))
        labels = [label for label in labels if label is not Label.CONFLICTING_EVIDENCE]
        evidence = gathered(claim, context)
        weighed = weigh(self.judge, claim, context, evidence.passages)
        label, likely = self._label(weighed.probabilities, labels)
        confidence: float | None = likely
        in_doubt = label is Label.SUPPORTED and likely < SURE_DESPITE_GAPS and Label.NOT_ENOUGH_EVIDENCE in labels
        if in_doubt and gap(claim, context, evidence.passages):
            # Too low a probability to support the claim despite a gap is no estimate of the other labels.
            label, confidence = Label.NOT_ENOUGH_EVIDENCE, None
        compared = (Sentence(finding.told, finding.hops) for finding in weighed.findings)
        quoted = (*quotations(context), *further_quotations(claim, evidence))
        rationale = (*quoted, *mentions(claim, context, quoted), *compared, closing(label, context))
        missing = missing_from(claim, context, evidence.passages) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, rationale, missing, confidence)

    def _label(self, probabilities: dict[Label, float], labels: Sequence[Label]) -> tuple[Label, float]:
        if Label.NOT_ENOUGH_EVIDENCE not in labels:
            supported = probabilities[Label.SUPPORTED] + OPEN_SUPPORTED * probabilities[Label.NOT_ENOUGH_EVIDENCE]
            return (Label.SUPPORTED, supported) if supported >= 0.5 else (Label.REFUTED, 1 - supported)
        likely = max(labels, key=lambda label: probabilities[label])
        confidence = probabilities[likely]
        if likely is not Label.NOT_ENOUGH_EVIDENCE and confidence < self.sufficient:
            return Label.NOT_ENOUGH_EVIDENCE, 1 - confidence
        return likely, confidence
