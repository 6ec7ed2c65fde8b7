"""The questioner as sequence-to-sequence models fine-tuned to write questions (Papelo, section 3.1 and Appendix A).

One model writes the first question from the claim, another the next one from the claim and the pairs so far. Neither
decides anything, sees who made the claim, or is told what was asked in vain: they were trained on nothing of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop, Question
from app.domain.ports import Ask, Completer
from app.domain.progress import entered
from app.modules.prompted.prompting import answer_text, one_line
from app.modules.pursuit.replies import question_from_model

MAX_TOKENS = 128


@dataclass(frozen=True)
class Seq2SeqPursuer:
    """Implements `Pursuer` over two models; a run that takes only its first question needs no `next_model`."""

    first_model: Completer
    next_model: Completer

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """One question, whatever `n`: the model was trained to write one. Raises UnparseableOutput for none."""
        entered("thinking of a question")
        return (question_from_model(self.first_model.complete(first_input(claim), max_tokens=MAX_TOKENS)),)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask:
        """One more question, which may be one that was asked: a model that repeats itself ends the questioning."""
        entered("thinking of one more question")
        return Ask(question_from_model(self.next_model.complete(next_input(claim, context), max_tokens=MAX_TOKENS)))


def first_input(claim: Claim) -> str:
    """What the first model reads."""
    return f"question: {one_line(claim.text)}"


def next_input(claim: Claim, context: Context) -> str:
    """What the second model reads: the claim, then each pair."""
    pairs = (f" Question: {one_line(hop.question.text)} Answer: {answer_text(hop)}" for hop in context)
    return f"question: Claim: {one_line(claim.text)}{''.join(pairs)}"
