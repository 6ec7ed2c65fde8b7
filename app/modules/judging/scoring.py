"""Weigh the kept evidence: the judge's probabilities, adjusted by comparing the answers with the claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop, Label
from app.domain.ports import EntailmentModel
from app.modules.judging.comparison import findings
from app.modules.judging.evidence import passages_of
from app.modules.judging.gaps import unanswered_sides
from app.modules.judging.two_answers import Finding

ORDER = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE)
SHIFT = 1.8
"""Log-odds by which one comparison shifts the decided labels. Set by hand on our own claims: no data set has such hops.

The joined judge treats a name that no evidence mentions as insufficient evidence. Only the comparison detects that the
answers give another name in its place.
"""
ORDERED_SHIFT = 3.0
"""The same for a comparison of two years, which is plain arithmetic once both answers are known."""

OF_ONE_SIDE = 0.5
"""Weight of a judgement that read about one side of a comparison only; the rest is left open. Set by hand."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """Probabilities of the three labels, summing to 1, and the comparisons that moved them."""

    probabilities: dict[Label, float]
    findings: tuple[Finding, ...]

    @property
    def decided(self) -> float:
        """Return the larger of p(supported) and p(refuted)."""
        return max(self.probabilities[Label.SUPPORTED], self.probabilities[Label.REFUTED])


def weigh(judge: EntailmentModel, claim: Claim, context: Context, passages: Sequence[tuple[str, str]]) -> Weighed:
    """Classify the claim over the (title, text) `passages`, then adjust by comparing the answers with the claim.

    If the claim compares and one side is unanswered, an answer about the other side can refute it but not support it.
    """
    (probabilities,) = judge.classify([(claim.text, passages)])
    compared = findings(claim, context)
    half_answered = bool(unanswered_sides(claim, context))
    shift = sum(_shift(finding) for finding in compared if not (half_answered and finding.agrees))
    moved = (shift, -shift, -abs(shift) / 2)
    raised = [p * math.exp(by) for p, by in zip(probabilities, moved, strict=True)]
    supported, refuted, open_ = (value / sum(raised) for value in raised)
    if half_answered and shift == 0:
        open_ += (1 - OF_ONE_SIDE) * (supported + refuted)
        supported, refuted = OF_ONE_SIDE * supported, OF_ONE_SIDE * refuted
    return Weighed(dict(zip(ORDER, (supported, refuted, open_), strict=True)), compared)


def conflict(judge: EntailmentModel, claim: Claim, context: Context, sufficient: float) -> tuple[Hop, Hop] | None:
    """Return the hops that most support and most refute the claim, each with at least `sufficient`; otherwise None."""
    if len(context) < 2:
        return None
    rows = judge.classify([(claim.text, passages_of(claim, (hop,))) for hop in context])
    supports = max(range(len(context)), key=lambda at: rows[at][0])
    refutes = max(range(len(context)), key=lambda at: rows[at][1])
    if min(rows[supports][0], rows[refutes][1]) < sufficient:
        return None
    return context[supports], context[refutes]


def _shift(finding: Finding) -> float:
    size = ORDERED_SHIFT if len(finding.hops) > 1 else SHIFT
    return size if finding.agrees else -size
