"""D, the claim verifier: is the context enough to decide? (QACheck, section 3.1)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.modules.evidence import is_island, passages_of
from app.modules.look_ups import only_looks_up
from app.modules.unasked import unasked_sides, unmentioned_clauses
from app.modules.weighing import weigh
from app.modules.wording import names, normalised
from app.reasoning.roles import EntailmentModel
from app.reasoning.types import Claim, Context, Judgement

SURE_DESPITE_GAPS = 0.9
"""A name or a clause of the claim that no evidence mentions is a gap; only so sure a weighing may decide over one."""


@dataclass(frozen=True)
class JudgeClaimVerifier:
    """Weighs what the kept answers cite, and holds it to a stricter bound while a part of the claim is untouched.

    Where the claim compares, nothing decides it before both sides were asked about.
    `sufficient` is the fitted bound on the larger of the two (it lives beside the judge's weights).
    """

    judge: EntailmentModel
    sufficient: float

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        """Whether the kept evidence decides the claim; the confidence is of that answer."""
        if sides := unasked_sides(claim, context):
            return Judgement(False, f"Nothing was asked yet about {' or '.join(sides)}, which the claim compares.")
        passages = passages_of(claim, context)
        weighed = weigh(self.judge, claim, context, passages)
        decided, compared = weighed.decided, {part for finding in weighed.findings for part in finding.claimed}
        gaps = tuple(name for name in untouched(claim, context, passages) if name not in compared)
        unsaid = () if gaps else unmentioned_clauses(claim, context, passages)
        bound = max(self.sufficient, SURE_DESPITE_GAPS) if gaps or unsaid else self.sufficient
        if decided >= bound:
            return Judgement(True, "The kept evidence decides the claim.", decided)
        if gaps:
            return Judgement(False, f"Nothing kept so far mentions {' or '.join(gaps)}.", 1 - decided)
        if unsaid:
            return Judgement(False, f"Nothing kept so far speaks of this part: “{unsaid[0]}”.", 1 - decided)
        return Judgement(False, "The kept evidence does not decide the claim yet.", 1 - decided)


def untouched(claim: Claim, context: Context, passages: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The names in the claim of which neither a kept question nor any of the (title, text) `passages` says anything.

    A question that only looks a name up, and an article on it with no other word of the claim, say nothing of it here:
    that there is a Warsaw does not tell who was born there.
    """
    asked = [hop.question.text for hop in context if not only_looks_up(hop.question.text)]
    return tuple(
        name
        for name in names(claim.text)
        if not any(_is_in(name, question) for question in asked)
        and not any(_is_in(name, " ".join(each)) and not is_island(claim, each) for each in passages)
    )


def _is_in(name: str, text: str) -> bool:
    return f" {normalised(name)} " in f" {normalised(text)} "
