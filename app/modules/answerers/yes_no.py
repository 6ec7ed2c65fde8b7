"""Answer yes/no questions: the judge checks the statement that a yes would assert against the passages.

The passages that the judge can read at once are weighed together, as in its training. The answer is yes if they support
the statement and no if they refute it. There is no answer if the probability is too low: a passage on the right subject
may not contain the fact.
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
    """Answers by the judge. `sure` is the least probability for "supports" or "refutes", stored beside its weights."""

    judge: EntailmentModel
    sure: float

    def answer(self, said: str, passages: Sequence[Passage]) -> Answer:
        """Return "yes", "no" or None for the statement `said`, citing the sentence of the passages nearest to it.

        The score is the probability of the likelier of the two, even if it is too low to give an answer. The judge may
        raise CallFailed.
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
    """Implements `Reader`: yes/no questions are judged, since no span answers them; `reader` reads all others."""

    reader: Reader
    yes_or_no: YesOrNo

    def read(self, question: Question, passages: Sequence[Passage]) -> Answer:
        """Return `YesOrNo.answer` for the question turned into a statement, or else the reader's answer."""
        said = statement(question.text)
        return self.yes_or_no.answer(said, passages) if said else self.reader.read(question, passages)
