"""D, the claim verifier: judge whether the context is sufficient to decide the claim (QACheck, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.model import Claim, Context, Judgement
from app.domain.ports import EntailmentModel
from app.modules.judging.evidence import passages_of
from app.modules.judging.gaps import SURE_DESPITE_GAPS, gap, unasked_sides, unmentioned_clauses
from app.modules.judging.scoring import weigh


@dataclass(frozen=True)
class JudgeClaimVerifier:
    """Implements `ClaimVerifier` by weighing the cited passages, with a stricter bound if they miss part of the claim.

    A claim that compares is not decided before both sides were asked about. `sufficient` is the fitted bound on the
    larger of p(supported) and p(refuted); it is stored beside the judge's weights.
    """

    judge: EntailmentModel
    sufficient: float

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        """Judge whether the kept evidence decides the claim; the confidence is that of this judgement."""
        if sides := unasked_sides(claim, context):
            return Judgement(False, f"Nothing was asked yet about {' or '.join(sides)}, which the claim compares.")
        passages = passages_of(claim, context)
        weighed = weigh(self.judge, claim, context, passages)
        decided, missing = weighed.decided, gap(claim, context, passages)
        unsaid = () if missing else unmentioned_clauses(claim, context, passages)
        bound = max(self.sufficient, SURE_DESPITE_GAPS) if missing or unsaid else self.sufficient
        if decided >= bound:
            return Judgement(True, "The kept evidence decides the claim.", decided)
        if missing:
            return Judgement(False, f"Nothing kept so far {missing}.", 1 - decided)
        if unsaid:
            return Judgement(False, f"Nothing kept so far speaks of this part: “{unsaid[0]}”.", 1 - decided)
        return Judgement(False, "The kept evidence does not decide the claim yet.", 1 - decided)
