"""D, the claim verifier: is the context enough to decide? (QACheck, section 3.1)"""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.model import Claim, Context, Judgement
from app.modules.judging.scoring import EvidenceJudge, decided


@dataclass(frozen=True)
class JudgeClaimVerifier:
    """Implements `ClaimVerifier`: enough where the judge decides with at least the probability `sufficient`."""

    judge: EvidenceJudge
    sufficient: float

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        """Return whether the kept evidence decides the claim; the confidence is of that answer."""
        likely = decided(self.judge.score(claim, context))
        if likely >= self.sufficient:
            return Judgement(True, "The kept evidence decides the claim.", likely)
        return Judgement(False, "The kept evidence does not decide the claim yet.", 1 - likely)
