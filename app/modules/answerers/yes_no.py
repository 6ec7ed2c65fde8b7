"""Answering yes or no: the judge weighs what a yes would assert against the passages.

The passages that the judge can read at once are weighed together, as it was trained. It says yes where they support
the statement, no where they refute it, and nothing where it is less sure than it must be: a passage about the right
thing that does not tell decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Answer, Passage, Question
from app.domain.ports import EntailmentModel, Reader
from app.modules.judging.yes_no import statement
from app.modules.reasoner.rationale import nearest_sentence


@dataclass(frozen=True)
class YesOrNo:
    """`sure` is the probability from which the judge's "supports" or "refutes" counts, fitted beside its weights."""

    judge: EntailmentModel
    sure: float

    def answer(self, said: str, passages: Sequence[Passage]) -> Answer:
        """ "yes", "no" or None to whether `said` holds, with the nearest sentence of the passages as what is cited.

        The score is the probability of the likelier of the two, also where it was too low to be given. CallFailed
        comes from the judge.
        """
        evidence = [(passage.title, passage.text) for passage in passages]
        if not any(text.strip() for _, text in evidence):
            return Answer(None, retrieved=tuple(passages))
        ((yes, no, _),) = self.judge.classify([(said, evidence)])
        score = max(yes, no)
        if score < self.sure:
            return Answer(None, retrieved=tuple(passages), score=score)
        return Answer("yes" if yes >= no else "no", nearest_sentence(said, passages), tuple(passages), score=score)


@dataclass(frozen=True)
class YesOrNoReader:
    """Implements `Reader`: what asks for yes or no is judged, for it has no span; all else is read by `reader`."""

    reader: Reader
    yes_or_no: YesOrNo

    def read(self, question: Question, passages: Sequence[Passage]) -> Answer:
        """As `YesOrNo.answer` over the question turned into a statement, or as the reader has it."""
        said = statement(question.text)
        return self.yes_or_no.answer(said, passages) if said else self.reader.read(question, passages)
