"""A questioner made of two: one opens the check, another goes on. The paper's system is `seq` first, then `llm`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop, Question
from app.domain.ports import Ask, Decide, Pursuer


@dataclass(frozen=True)
class Relay:
    """Implements `Pursuer`: the first questions are `first`'s, every later step is `then`'s."""

    first: Pursuer
    then: Pursuer

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        return self.first.first_questions(claim, n)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        return self.then.next_step(claim, context, set_aside)
