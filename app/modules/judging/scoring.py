"""Judge a claim by the kept hops: the probabilities of the three labels, and the sentences that decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop, Label
from app.domain.ports import EntailmentModel, Reranker
from app.modules.judging.arithmetic import compared
from app.modules.judging.evidence import Evidence, Excerpt, asked_pairs, by_title, evidence_of

ORDER = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE)
COMPUTED = 0.9
"""Probability of a computed label: 27 of 31 comparisons by rule were right on new claims, answers misread included."""

Probabilities = dict[Label, float]


@dataclass(frozen=True)
class EvidenceJudge:
    """The entailment model over what the kept hops read. Propagates the errors of both models; holds no state."""

    model: EntailmentModel
    reranker: Reranker

    def score(self, claim: Claim, context: Context) -> Probabilities:
        """Return the probability of each label."""
        return self.score_of(claim, context, self.evidence(claim, context))

    def evidence(self, claim: Claim, context: Context) -> Evidence:
        """Return what is read of the kept hops."""
        return evidence_of(claim.text, context, self.reranker)

    def score_of(self, claim: Claim, context: Context, evidence: Evidence) -> Probabilities:
        """Return the probability of each label: the normalised geometric mean of two readings.

        One is of the nearest sentence alone, the other of all with the questions and answers of the hops. The nearest
        alone is right more often where one sentence decides, but it decides what no sentence does. Where the order of
        two answers can be computed, that overrules both.
        """
        if order := compared(claim, context):
            computed = (COMPUTED, 0.0, 1 - COMPUTED) if order.holds else (0.0, COMPUTED, 1 - COMPUTED)
            return dict(zip(ORDER, computed, strict=True))
        readings: list[Sequence[Excerpt]] = [evidence.excerpts]
        asked: list[Sequence[tuple[str, str]]] = [asked_pairs(context)]
        if evidence.nearest and len(evidence.excerpts) > 1:
            readings, asked = [(evidence.nearest,), *readings], [(), *asked]
        rows = self.model.classify([(claim.text, by_title(read)) for read in readings], asked)
        joint = [math.prod(column) ** (1 / len(rows)) for column in zip(*rows, strict=True)]
        return {label: value / (sum(joint) or 1.0) for label, value in zip(ORDER, joint, strict=True)}

    def deciding(self, claim: Claim, evidence: Evidence, label: Label) -> Excerpt | None:
        """Return the excerpt that alone gives `label` the highest probability; None without any."""
        found = evidence.excerpts
        if len(found) < 2:
            return found[0] if found else None
        rows = self.model.classify([(claim.text, [(one.title, one.text)]) for one in found])
        place = ORDER.index(label)
        return found[max(range(len(found)), key=lambda at: rows[at][place])]

    def conflict(self, claim: Claim, context: Context, sufficient: float) -> tuple[Hop, Hop] | None:
        """Return the kept hops that support and refute the claim most, each above `sufficient` alone; or None."""
        if len(context) < 2:
            return None
        rows = [self.score(claim, (hop,)) for hop in context]
        supports = max(range(len(context)), key=lambda at: rows[at][Label.SUPPORTED])
        refutes = max(range(len(context)), key=lambda at: rows[at][Label.REFUTED])
        if min(rows[supports][Label.SUPPORTED], rows[refutes][Label.REFUTED]) < sufficient:
            return None
        return context[supports], context[refutes]


def decided(probabilities: Probabilities) -> float:
    """Return the larger of p(supported) and p(refuted)."""
    return max(probabilities[Label.SUPPORTED], probabilities[Label.REFUTED])
