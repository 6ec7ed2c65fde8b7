"""Questioners of evidence pursuit (Papelo): local, prompted, a relay of two, and sequence-to-sequence models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.domain.errors import UnparseableOutput
from app.domain.model import Claim, Context, Hop, HopStatus, Label, Question
from app.domain.ports import (
    Ask,
    ClaimVerifier,
    Completer,
    Decide,
    Pursuer,
    QuestionGenerator,
    TextGenerator,
)
from app.domain.progress import entered
from app.modules.judging.scoring import EvidenceJudge
from app.modules.prompting import Known, Quote, answer_text, few_shot, filled, known_lines, made, one_line, quoted_texts
from app.modules.pursuit.replies import question_from_model, questions_from, step_from


@dataclass(frozen=True)
class LocalPursuer:
    """Implements `Pursuer` without an API key: decide if `verifier` finds the evidence sufficient, else ask once more.

    `judge` is the one that `verifier` uses; the likelier of SUPPORTED and REFUTED is the decision. Propagates their
    errors.
    """

    generator: QuestionGenerator
    verifier: ClaimVerifier
    judge: EvidenceJudge

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return up to `n` questions, each the generator's next best as if the earlier ones had no answer."""
        found: list[Question] = []
        while len(found) < n:
            asked = tuple(Hop(at, question, None, HopStatus.SET_ASIDE) for at, question in enumerate(found, start=1))
            question = self.generator.next_question(claim, (), asked)
            if question is None:
                break
            found.append(question)
        return tuple(found)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        """Return a decision or the next question; None if no question is left. No decision on an empty context."""
        if context and self.verifier.is_sufficient(claim, context).holds:
            probabilities = self.judge.score(claim, context)
            return Decide(probabilities[Label.SUPPORTED] >= probabilities[Label.REFUTED])
        question = self.generator.next_question(claim, context, set_aside)
        return None if question is None else Ask(question)


# The prompts are those of the paper (Papelo, Appendix B), without demonstrations. Answers are put between marks made
# for the call, like all quoted material. The speaker and date of the claim are included if known. Unlike the paper's,
# the prompt also lists the questions that found no answer.

MAX_TOKENS = 384
ANSWERS_WORDS = 400
"""Words for the answers of all pairs together; each gets an equal share, from its beginning."""
IN_VAIN = "No answer was found to these, so do not ask them again:"
ONLY_LIST = "Write the JSON list and nothing else."
ONLY_STEP = "Write [[True]], or [[False]], or one question with its question mark, and nothing else."

Read = TypeVar("Read")


@dataclass(frozen=True)
class PromptedPursuer:
    """Implements `Pursuer` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return the first `n` questions that the model lists. Raises UnparseableOutput if it writes no question."""
        entered("thinking of a question" if n == 1 else "thinking of questions")
        return _read(self.model, lambda also: first_prompt(claim, also), ONLY_LIST, questions_from)[:n]

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide:
        """Return a decision or one more question, possibly a repeated one. Raises UnparseableOutput for neither."""
        entered("deciding, or thinking of one more question")
        return _read(self.model, lambda also: step_prompt(claim, context, set_aside, also), ONLY_STEP, step_from)


@dataclass(frozen=True)
class PromptedParaphraser:
    """Implements `Paraphraser` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        """Return at most `n` other wordings. As in the paper, the prompt contains the question but not the claim."""
        entered("putting the question in other words")
        found = _read(self.model, lambda also: paraphrase_prompt(question, n, also), ONLY_LIST, questions_from)
        return tuple(each for each in found if each != question)[:n]


def first_prompt(claim: Claim, also: str = "") -> str:
    """Return the prompt for the first questions; `also` is one more instruction."""
    return filled("pursuit_first", claim=one_line(claim.text), made=made(claim), also=also)


def step_prompt(claim: Claim, context: Context, set_aside: Sequence[Hop], also: str = "") -> str:
    """Return the prompt for the next step, with every question so far and its answer if it has one."""
    known = _answered(context)
    vain = [f"- {one_line(hop.question.text)}" for hop in set_aside if hop.question.text]

    def case(quote: Quote) -> str:
        told = "\n".join([known_lines(known, quote), *([IN_VAIN, *vain] if vain else [])])
        return filled("pursuit_next", claim=one_line(claim.text), made=made(claim), known=told, also=also)

    return few_shot((), case, quoted_texts(known))


def paraphrase_prompt(question: Question, n: int, also: str = "") -> str:
    """Return the prompt for other wordings."""
    return filled("pursuit_paraphrase", question=one_line(question.text), number=n, also=also)


def _read(model: TextGenerator, prompt: Callable[[str], str], only: str, read: Callable[[str], Read]) -> Read:
    """Return the reply as parsed by `read`. If it cannot be parsed, ask once more with the instruction `only`."""
    try:
        return read(model.complete(prompt(""), max_tokens=MAX_TOKENS))
    except UnparseableOutput:
        return read(model.complete(prompt(only), max_tokens=MAX_TOKENS))


def _answered(context: Context) -> list[Known]:
    share = ANSWERS_WORDS // max(1, len(context))
    texts = [(hop.answer.text or "") if hop.answer else "" for hop in context]
    return [
        (hop.number, hop.question.text, " ".join(text.split()[:share]), "")
        for hop, text in zip(context, texts, strict=True)
    ]


@dataclass(frozen=True)
class Relay:
    """Implements `Pursuer`: `first` asks the first questions, `then` takes every later step.

    The paper's system is `seq` first, then `llm`.
    """

    first: Pursuer
    then: Pursuer

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        return self.first.first_questions(claim, n)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        return self.then.next_step(claim, context, set_aside)


# Sequence-to-sequence models fine-tuned to write questions (Papelo, section 3.1 and Appendix A). One model writes the
# first question from the claim, another the next one from the claim and the pairs so far. They do not decide, and their
# input has neither the speaker nor the questions that found no answer, because their training data had neither.

MAX_SEQ2SEQ_TOKENS = 128


@dataclass(frozen=True)
class Seq2SeqPursuer:
    """Implements `Pursuer` over two models; a run that takes only its first question needs no `next_model`."""

    first_model: Completer
    next_model: Completer

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return one question for any `n`, as the model was trained to. Raises UnparseableOutput for none."""
        entered("thinking of a question")
        return (question_from_model(self.first_model.complete(first_input(claim), max_tokens=MAX_SEQ2SEQ_TOKENS)),)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask:
        """Return one more question, possibly a repeated one; a repetition ends the questioning."""
        entered("thinking of one more question")
        return Ask(
            question_from_model(self.next_model.complete(next_input(claim, context), max_tokens=MAX_SEQ2SEQ_TOKENS))
        )


def first_input(claim: Claim) -> str:
    """Return the input of the first model."""
    return f"question: {one_line(claim.text)}"


def next_input(claim: Claim, context: Context) -> str:
    """Return the input of the second model: the claim, then each pair."""
    pairs = (f" Question: {one_line(hop.question.text)} Answer: {answer_text(hop)}" for hop in context)
    return f"question: Claim: {one_line(claim.text)}{''.join(pairs)}"
