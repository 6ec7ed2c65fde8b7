"""The retriever-reader answerer: BM25, a reranker, an extractive reader (QACheck, section 3.3, its third QA model).

What asks for yes or no has no span to point at: there the judge answers, over the question turned into a statement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.modules.answering.yes_no import YesOrNo
from app.modules.yes_no import statement
from app.reasoning.progress import entered
from app.reasoning.roles import Reader, Reranker, Retriever
from app.reasoning.types import Answer, Claim, Question

NAME = "retriever-reader"


@dataclass(frozen=True)
class RetrieverReader:
    """Answers from retrieved passages only. `depth` are retrieved and reranked, the best `read` of them are read.

    Without `yes_or_no` every question is read for a span.
    """

    retriever: Retriever
    reranker: Reranker
    reader: Reader
    depth: int = 20
    read: int = 5
    yes_or_no: YesOrNo | None = None

    def answer(self, question: Question, claim: Claim) -> Answer:
        """The best span over the best passages; text None when there is none, with what was looked at all the same."""
        passages = self.retriever.retrieve(question.text, self.depth)
        if not passages:
            return Answer(None, answerer=NAME)
        entered(f"ranking {len(passages)} passages")
        best = self.reranker.rerank(question.text, passages)[: self.read]
        entered(f"reading {len(best)} passages")
        said = statement(question.text) if self.yes_or_no else None
        if self.yes_or_no and said:
            return replace(self.yes_or_no.answer(said, best), answerer=NAME)
        return replace(self.reader.read(question, best), answerer=NAME)
