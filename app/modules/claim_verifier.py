"""D, the claim verifier (QACheck, section 3.1): whether the kept answers are sufficient for a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Claim, Context, Judgement
from app.domain.ports import Chat, TextGenerator
from app.modules.prompting import (
    EXAMPLE_DELIMITERS,
    YES_OR_NO,
    KnownHop,
    Quote,
    build_chat,
    chat_case,
    demonstrations,
    example_hops,
    few_shot,
    fill_template,
    first_of_each,
    known_hops,
    known_lines,
    one_line,
    quoted_texts,
    yes_or_no,
)


@dataclass(frozen=True)
class PromptedClaimVerifier:
    """Implements `ClaimVerifier` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        """Ask the model whether the kept pairs decide the claim."""
        report_phase(Code.DECIDING_ENOUGH())
        prompt, as_chat = self._prompts(claim, context)
        return yes_or_no(self.model, prompt, Code.MODEL_DECIDED, Code.MODEL_NOT_DECIDED, as_chat)

    def _prompts(self, claim: Claim, context: Context) -> tuple[str, Chat | None]:
        return sufficiency_prompt(claim, context), sufficiency_chat(claim, context)


def sufficiency_prompt(claim: Claim, context: Context) -> str:
    """Return the prompt: the demonstrations and this case, up to the start of the prediction."""
    known = known_hops(context)
    return few_shot(_demonstration_texts(), lambda quote: _case(claim.text, known, quote), quoted_texts(known))


def sufficiency_chat(claim: Claim, context: Context) -> Chat:
    """Return the same as a chat, with two demonstrations of each reply."""
    known = known_hops(context)
    examples = (
        (
            chat_case(each["claim"], example_hops(each["known"]), EXAMPLE_DELIMITERS),
            {"enough": each["prediction"]},
        )
        for each in first_of_each(demonstrations("sufficiency"), "prediction", 2)
    )
    return build_chat(
        "enough", examples, lambda quote: chat_case(claim.text, known, quote), quoted_texts(known), enough=YES_OR_NO
    )


@lru_cache
def _demonstration_texts() -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], example_hops(each['known']))} {each['prediction']}"
        for each in demonstrations("sufficiency")
    )


def _case(claim: str, known: Iterable[KnownHop], quote: Quote = str) -> str:
    return fill_template("sufficiency", claim=one_line(claim), known=known_lines(known, quote))
