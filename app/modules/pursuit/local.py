"""The questioner with no key: the judge decides, and the local question generator asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop, HopStatus, Label, Question
from app.domain.ports import Ask, ClaimVerifier, Decide, EntailmentModel, QuestionGenerator
from app.modules.evidence import passages_of
from app.modules.weighing import weigh


@dataclass(frozen=True)
class LocalPursuer:
    """Implements `Pursuer`: decided when `verifier` finds the weighing sufficient, else one more question.

    `judge` is what `verifier` weighs by; which side outweighs the other is the decision. Raises what they raise.
    """

    generator: QuestionGenerator
    verifier: ClaimVerifier
    judge: EntailmentModel

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """The generator's best question, then its best after that, as if none had an answer yet."""
        found: list[Question] = []
        while len(found) < n:
            asked = tuple(Hop(at, question, None, HopStatus.SET_ASIDE) for at, question in enumerate(found, start=1))
            question = self.generator.next_question(claim, (), asked)
            if question is None:
                break
            found.append(question)
        return tuple(found)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        """Decided, or the next question; None when the generator has none left. Without a pair nothing is decided."""
        if context and self.verifier.is_sufficient(claim, context).holds:
            probabilities = weigh(self.judge, claim, context, passages_of(claim, context)).probabilities
            return Decide(probabilities[Label.SUPPORTED] >= probabilities[Label.REFUTED])
        question = self.generator.next_question(claim, context, set_aside)
        return None if question is None else Ask(question)
