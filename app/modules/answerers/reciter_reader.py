"""The reciter-reader answerer: a language model recites a passage, a reader reads it (QACheck, section 3.3).

It is the paper's default answerer. A recited passage is shown as recited, never as a source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.domain.instrumentation import entered
from app.domain.model import QACHECK, Answer, Claim, Origin, Passage, Question, RunOptions, Span
from app.domain.ports import QuestionAnswerer, Reader, TextGenerator
from app.modules.answerers import AnswererKind, AnswererParts, Need, reader_name
from app.modules.output_parsing import answer_from, passage_from
from app.modules.prompting import data, few_shot, filled, one_line

if TYPE_CHECKING:
    from app.config.settings import Settings

SOURCE = "from the model's memory, not a source"


def recited(text: str, model: str) -> Passage:
    """Return `text` as a passage recited by the model of this name."""
    return Passage(text, f"{model}'s memory", SOURCE, origin=Origin.RECITED)


def answer_in(passage: Passage, text: str, answerer: str) -> Answer:
    """Return the answer `text`, citing where it occurs in the passage, or else the whole passage."""
    at = passage.text.casefold().find(text.casefold())
    # Case folding can change the length of a text (ß), so the position found may be wrong.
    is_literal = at >= 0 and passage.text[at : at + len(text)].casefold() == text.casefold()
    cited = Span(passage, at, at + len(text)) if is_literal else Span(passage, 0, len(passage.text))
    return Answer(text, cited, (passage,), answerer)


NAME = "reciter-reader"
PASSAGE_WORDS = 150
PASSAGE_TOKENS, ANSWER_TOKENS = 256, 48
NEXT_QUESTION, NEXT_PASSAGE = "\nQuestion =", "\nPassage ="


@dataclass(frozen=True)
class ReciterReader:
    """Implements `QuestionAnswerer`. `reader` reads the passage that `model` recites; if None, the model reads it."""

    model: TextGenerator
    reader: Reader | None = None

    def answer(self, question: Question, claim: Claim) -> Answer:
        """Return an answer from one recited passage; its text is None if the model recites none or finds none in it.

        Propagates errors of the model and the reader.
        """
        entered(f"reciting what {self.model.name} remembers")
        text = self.model.complete(reciting_prompt(question), max_tokens=PASSAGE_TOKENS, stop=(NEXT_QUESTION,))
        recitation = passage_from(text, PASSAGE_WORDS)
        if recitation is None:
            return Answer(None, answerer=NAME)
        passage = recited(recitation, self.model.name)
        entered("reading what was recited")
        if self.reader is not None:
            return replace(self.reader.read(question, (passage,)), answerer=NAME)
        return self._read(question, passage)

    def _read(self, question: Question, passage: Passage) -> Answer:
        prompt = reading_prompt(question, passage.text)
        found = answer_from(self.model.complete(prompt, max_tokens=ANSWER_TOKENS, stop=(NEXT_PASSAGE,)))
        if found is None:
            return Answer(None, retrieved=(passage,), answerer=NAME)
        return answer_in(passage, found, NAME)


def reciting_prompt(question: Question) -> str:
    """Return the demonstrations and this question, up to the start of the passage."""
    shown = (f"{filled('reciting', question=each['question'])} {each['passage']}" for each in data("reciting"))
    return few_shot(shown, lambda quote: filled("reciting", question=one_line(question.text)), ())


def reading_prompt(question: Question, passage: str) -> str:
    """Return the demonstrations, the passage and this question, up to the start of the answer."""
    shown = (
        f"{filled('reading', passage=each.get('read', each['passage']), question=each['question'])} {each['answer']}"
        for each in data("reciting")
    )
    asked = one_line(question.text)
    return few_shot(shown, lambda quote: filled("reading", passage=quote(passage), question=asked), (passage,))


def _describe(options: RunOptions, settings: Settings) -> str:
    by_model = settings.read_with == "model" or options.preset == QACHECK
    reads = options.model if by_model else reader_name(settings)
    return f"{NAME}: {options.model} recites, {reads} reads"


def _build(parts: AnswererParts) -> QuestionAnswerer:
    return ReciterReader(parts.demand_model(), parts.recitation_reader)


KIND = AnswererKind(
    title="Reciter and reader: a language model recites, a reader reads",
    needs=(Need.MODEL,),
    describe=_describe,
    build=_build,
    asks_model=True,
)
