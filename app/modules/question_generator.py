"""Q, the question generator (QACheck, section 3.2, Appendix A.2), over a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Claim, Context, Hop, Question
from app.domain.ports import Chat, TextGenerator
from app.modules.output_parsing import question_from
from app.modules.prompting import (
    TEXT,
    Case,
    PromptedRole,
    Quote,
    ask,
    chat_case,
    demonstrations,
    fill_template,
    known_hops,
    known_lines,
    one_line,
    quoted_texts,
)
from app.text.wording import is_new_question

MAX_REPLY_TOKENS = 64
FRUITLESS_HEADING = "We have already asked these in vain:"
ASKED_HEADING = "All of these were asked already, so ask none of them again:"
# Each attempt has another instruction: a request whose reply could not be read is not sent again in the same run.
FIRST_INSTRUCTIONS = ("", "Write this one question, with its question mark, and nothing else.")
INSTRUCTIONS_AFTER_FAILURE = (
    "Do not judge the claim. Write one line: a question that begins with a word like Who, What, When, Where or Which.",
    "Reply with one short question, which ends with a question mark, and with no other word.",
)
"""The instructions after a hop that failed before it had a question."""
NEXT_CASE = "\nClaim ="
"""Stop sequence: without it the model continues with a case of its own."""


@dataclass(frozen=True)
class PromptedQuestioner:
    """Implements `QuestionGenerator` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return a new question; None if the model repeats one although the prompt lists those asked before.

        Raises UnparseableOutput if the text has no whole question, or one with more than MAX_QUESTION_WORDS words.
        """
        report_phase(Code.THINKING())
        in_vain = [hop.question.text for hop in set_aside if hop.question.text]
        asked = [*(hop.question.text for hop in context), *in_vain]
        has_failed_hop = not all(hop.question.text for hop in set_aside)
        question = self._ask(claim, context, _previous(FRUITLESS_HEADING, in_vain), has_failed_hop)
        if is_new_question(question.text, asked):
            return question
        question = self._ask(claim, context, _previous(ASKED_HEADING, asked), has_failed_hop)
        return question if is_new_question(question.text, asked) else None

    def _ask(self, claim: Claim, context: Context, previous: str, has_failed_hop: bool) -> Question:
        """Return the model's question. If it writes other text, ask once more for the question alone."""
        first, second = INSTRUCTIONS_AFTER_FAILURE if has_failed_hop else FIRST_INSTRUCTIONS
        try:
            return self._written(claim, context, previous, first)
        except UnparseableOutput:
            return self._written(claim, context, previous, second)

    def _written(self, claim: Claim, context: Context, previous: str, instruction: str) -> Question:
        prompt, chat = question_prompts(claim, context, previous, instruction)
        return ask(self.model, prompt, question_from, max_tokens=MAX_REPLY_TOKENS, stop=(NEXT_CASE,), chat=chat)


def _write(case: Case, quote: Quote) -> str:
    lines, previous, also = known_lines(case["known"], quote), case.get("previous", ""), case.get("instruction", "")
    if not lines and not previous:
        return fill_template("lm_first_question", claim=one_line(case["claim"]), also=also)
    head = f"We already know the following:\n{lines}\n" if lines else ""
    return fill_template("lm_next_question", claim=one_line(case["claim"]), known=head + previous, also=also)


ROLE = PromptedRole(
    "question",
    _write,
    lambda example: example["question"],
    lambda case, quote: chat_case(
        case["claim"], case["known"], quote, case.get("previous", ""), case.get("instruction", "")
    ),
)


def question_prompts(claim: Claim, context: Context, previous: str = "", instruction: str = "") -> tuple[str, Chat]:
    """Return the prompt as text, and as a chat with two demonstrations of a first question and two of a later one.

    `previous` lists the questions asked before.
    """
    known = known_hops(context)
    case = {"claim": claim.text, "known": known, "previous": previous, "instruction": instruction}
    first, later = demonstrations("first_question"), demonstrations("follow_up_question")
    examples = later if context or previous else first
    return ROLE.prompts(examples, (*first[:2], *later[:2]), case, quoted_texts(known), question=TEXT)


def _previous(heading: str, questions: Sequence[str]) -> str:
    return "\n".join([heading, *(f"- {one_line(question)}" for question in questions)]) if questions else ""
