"""The reciter-reader answerer: a language model recites a passage, a reader reads it (QACheck, section 3.3).

It is the paper's default. A recited passage is labelled as recited and never shown as a source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from app.domain.instrumentation import report_phase
from app.domain.messages import Code, Words
from app.domain.model import QACHECK, Answer, Claim, Context, Origin, Passage, Question, RunOptions
from app.domain.ports import Chat, Reader, TextGenerator
from app.modules.answerers import AnswererKind
from app.modules.judging import citation
from app.modules.output_parsing import answer_from, passage_from
from app.modules.prompting import TEXT_OR_NULL, Case, PromptedRole, ask, demonstrations, fill_template, one_line
from app.text.options import is_no_answer

if TYPE_CHECKING:
    from app.config.settings import Settings

FROM_MEMORY = "from the model's memory, not a source"


def recited_passage(text: str, model: str) -> Passage:
    return Passage(text, f"{model}'s memory", FROM_MEMORY, origin=Origin.RECITED)


def cite_in(passage: Passage, text: str, question: Question, answerer: str) -> Answer:
    """Return the answer `text`, citing where it occurs in the passage, or else the sentence nearest to it."""
    return Answer(text, citation(text, question.text, (passage,)), (passage,), answerer)


NAME = "reciter-reader"
MAX_PASSAGE_WORDS = 150
MAX_PASSAGE_TOKENS, MAX_ANSWER_TOKENS = 256, 48
NEXT_QUESTION, NEXT_PASSAGE = "\nQuestion =", "\nPassage ="


@dataclass(frozen=True)
class ReciterReader:
    """Implements `QuestionAnswerer`: `model` recites a passage and `reader` reads it."""

    model: TextGenerator
    reader: Reader | None = None  # None if the model reads its own passage

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        """Return an answer from one recited passage; text None if the model recites none or finds none in it."""
        report_phase(Code.RECITING(model=self.model.name))
        prompt, chat = reciting_prompts(question)
        read = partial(passage_from, max_words=MAX_PASSAGE_WORDS)
        recitation = ask(self.model, prompt, read, max_tokens=MAX_PASSAGE_TOKENS, stop=(NEXT_QUESTION,), chat=chat)
        if recitation is None:
            return Answer(None, answerer=NAME)
        passage = recited_passage(recitation, self.model.name)
        report_phase(Code.READING_RECITED())
        if self.reader is not None:
            return replace(self.reader.read(question, (passage,)), answerer=NAME)
        prompt, chat = reading_prompts(question, passage.text)
        found = ask(self.model, prompt, answer_from, max_tokens=MAX_ANSWER_TOKENS, stop=(NEXT_PASSAGE,), chat=chat)
        if found is None:
            return Answer(None, retrieved=(passage,), answerer=NAME)
        return cite_in(passage, found, question, NAME)


RECITING = PromptedRole(
    "passage",
    "reciting",
    lambda case, quote: fill_template("reciting", question=one_line(case["question"])),
    lambda example: example["passage"],
    lambda case, quote: f"Question = {one_line(case['question'])}",
)
READING = PromptedRole(
    "answer",
    "reading",
    lambda case, quote: fill_template("reading", passage=quote(case["read"]), question=one_line(case["question"])),
    lambda example: example["answer"],
    lambda case, quote: f"Passage = {quote(case['read'])}\nQuestion = {one_line(case['question'])}",
)


def reciting_prompts(question: Question) -> tuple[str, Chat]:
    """Return the prompt for the passage as text, and as a chat with a demonstration of a passage and one of none."""
    examples = demonstrations("reciting")
    case = {"question": question.text}
    return RECITING.prompts(examples, _with_and_without(examples), case, (), passage=TEXT_OR_NULL)


def reading_prompts(question: Question, passage: str) -> tuple[str, Chat]:
    """Return the prompt for the answer as text, and as a chat with a demonstration of an answer and one of none."""
    # The passage to read is another one where nothing was recited.
    examples = [{"read": each["passage"], **each} for each in demonstrations("reciting")]
    case = {"question": question.text, "read": passage}
    return READING.prompts(examples, _with_and_without(examples), case, (passage,), answer=TEXT_OR_NULL)


def _with_and_without(examples: Sequence[Case]) -> list[Case]:
    return [next(each for each in examples if is_no_answer(each["answer"]) is without) for without in (False, True)]


def _describe(options: RunOptions, settings: Settings) -> str:
    by_model = settings.read_with == "model" or options.preset == QACHECK
    reads = options.model if by_model else "the local model"
    return f"a language model's memory: {options.model} recites, {reads} reads"


KIND = AnswererKind(
    title=Words("Reciter and reader: a language model recites, a reader reads"),
    needs=("language model",),
    describe=_describe,
    build=lambda parts: ReciterReader(parts.demand_model(), parts.recitation_reader),
    asks_model=True,
)
