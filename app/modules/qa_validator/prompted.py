"""V by prompting: decide whether a question-answer pair helps (QACheck, section 3.4 and Appendix A.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from app.domain.model import Claim, Context, Hop, Judgement
from app.domain.ports import TextGenerator
from app.domain.progress import entered
from app.modules.prompting import (
    Known,
    Quote,
    answer_text,
    few_shot,
    filled,
    kept_pairs,
    known_lines,
    one_line,
    quoted_texts,
    shown_pairs,
    yes_or_no,
)
from app.modules.prompts import data


@dataclass(frozen=True)
class PromptedValidator:
    """Implements `QAValidator` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        """Ask the model whether the pair is useful. A pair without an answer is not, and makes no call."""
        if not answer_text(hop):
            return Judgement(False, "This question has no answer.")
        entered("deciding whether the answer helps")
        return yes_or_no(
            self.model,
            usefulness_prompt(claim, context, hop),
            f"{self.model.name} finds it useful to verify the claim.",
            f"{self.model.name} finds that it does not help to verify the claim.",
        )


def usefulness_prompt(claim: Claim, context: Context, hop: Hop) -> str:
    """Return the demonstrations and this case, up to the start of the prediction."""
    known, answer = kept_pairs(context), answer_text(hop)
    return few_shot(
        _shown(),
        lambda quote: _case(claim.text, known, hop.question.text, quote(answer), quote),
        [*quoted_texts(known), answer],
    )


@lru_cache
def _shown() -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], shown_pairs(each['known']), each['question'], each['answer'])} {each['prediction']}"
        for each in data("usefulness")
    )


def _case(claim: str, known: Iterable[Known], question: str, answer: str, quote: Quote = str) -> str:
    lines = known_lines(known, quote)
    return filled(
        "usefulness",
        claim=one_line(claim),
        known=f"We already know the following:\n{lines}" if lines else "",
        question=one_line(question),
        answer=answer,
    )
