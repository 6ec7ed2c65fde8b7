"""D, the claim verifier (QACheck, section 3.1): whether the kept answers are sufficient for a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Claim, Context, Judgement
from app.domain.ports import Chat, TextGenerator
from app.modules.prompting import (
    YES_OR_NO,
    PromptedRole,
    demonstrations,
    fill_template,
    first_of_each,
    known_hops,
    known_lines,
    one_line,
    quoted_texts,
    yes_or_no,
)

ROLE = PromptedRole(
    "enough",
    lambda case, quote: fill_template(
        "sufficiency", claim=one_line(case["claim"]), known=known_lines(case["known"], quote)
    ),
    lambda example: example["prediction"],
)


def sufficiency_prompts(claim: Claim, context: Context) -> tuple[str, Chat]:
    """Return the prompt as text, and as a chat with two demonstrations of each answer."""
    known, examples = known_hops(context), demonstrations("sufficiency")
    case, few = {"claim": claim.text, "known": known}, first_of_each(examples, "prediction", 2)
    return ROLE.prompts(examples, few, case, quoted_texts(known), enough=YES_OR_NO)


@dataclass(frozen=True)
class PromptedClaimVerifier:
    """Implements `ClaimVerifier` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator
    prompts: Callable[[Claim, Context], tuple[str, Chat | None]] = sufficiency_prompts

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        """Ask the model whether the kept pairs decide the claim."""
        report_phase(Code.DECIDING_ENOUGH())
        return yes_or_no(self.model, *self.prompts(claim, context), Code.MODEL_DECIDED, Code.MODEL_NOT_DECIDED)
