"""Q by prompting alone: the next question from a capable language model (QACheck, section 3.2 and Appendix A.2).

The local generator (app/modules/question_generator/local.py) filters a small model's questions by rules; this one
trusts the model, and only prevents a question from being asked twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.domain.errors import UnparseableOutput
from app.domain.model import Claim, Context, Hop, Question
from app.domain.ports import TextGenerator
from app.domain.progress import entered
from app.modules.output_parsing import question_from
from app.modules.prompting import (
    Known,
    Quote,
    few_shot,
    filled,
    kept_pairs,
    known_lines,
    one_line,
    quoted_texts,
    shown_pairs,
)
from app.modules.prompts import data
from app.modules.wording import same_question

MAX_TOKENS = 64
IN_VAIN = "We have already asked these in vain:"
AGAIN = "All of these were asked already, so ask none of them again:"
ONLY = "Write this one question, with its question mark, and nothing else."
NEXT_CASE = "\nClaim ="
"""Stop sequence, before the model continues with a case of its own."""


@dataclass(frozen=True)
class PromptedQuestioner:
    """Implements `QuestionGenerator` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return a question that was not asked before; None if the model repeats one even when given those asked.

        Raises UnparseableOutput if its text is not exactly one whole question.
        """
        entered("thinking of a question")
        in_vain = [hop.question.text for hop in set_aside if hop.question.text]
        asked = [*(hop.question.text for hop in context), *in_vain]
        question = self._ask(claim, context, _told(IN_VAIN, in_vain))
        if _is_new(question, asked):
            return question
        question = self._ask(claim, context, _told(AGAIN, asked))
        return question if _is_new(question, asked) else None

    def _ask(self, claim: Claim, context: Context, told: str) -> Question:
        """Return the model's question. If it writes other text, ask once more for the question alone."""
        try:
            return self._written(question_prompt(claim, context, told))
        except UnparseableOutput:
            return self._written(question_prompt(claim, context, told, ONLY))

    def _written(self, prompt: str) -> Question:
        return question_from(self.model.complete(prompt, max_tokens=MAX_TOKENS, stop=(NEXT_CASE,)))


def question_prompt(claim: Claim, context: Context, told: str = "", also: str = "") -> str:
    """Return the demonstrations and this case, up to the start of the question.

    `told` lists the questions asked before, `also` is one more instruction.
    """
    is_first = not context and not told
    known = kept_pairs(context)
    return few_shot(
        _shown(is_first), lambda quote: _case(claim.text, known, is_first, quote, told, also), quoted_texts(known)
    )


@lru_cache
def _shown(is_first: bool) -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], shown_pairs(each.get('known', ())), is_first)} {each['question']}"
        for each in data("first_question" if is_first else "follow_up_question")
    )


def _case(
    claim: str, known: Iterable[Known], is_first: bool, quote: Quote = str, told: str = "", also: str = ""
) -> str:
    if is_first:
        return filled("lm_first_question", claim=one_line(claim), also=also)
    lines = known_lines(known, quote)
    head = f"We already know the following:\n{lines}\n" if lines else ""
    return filled("lm_next_question", claim=one_line(claim), known=head + told, also=also)


def _told(how: str, questions: Sequence[str]) -> str:
    """Return `how` and the questions, one per line; "" if there are none."""
    return "\n".join([how, *(f"- {one_line(question)}" for question in questions)]) if questions else ""


def _is_new(question: Question, asked: Iterable[str]) -> bool:
    return not any(same_question(question.text, one) for one in asked)
