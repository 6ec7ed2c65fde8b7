"""The retriever-reader answerer: BM25, a reranker, an extractive reader (QACheck, section 3.3, its third QA model)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.reasoning.progress import entered
from app.reasoning.roles import Reader, Reranker, Retriever
from app.reasoning.types import Answer, Claim, Question

NAME = "retriever-reader"


@dataclass(frozen=True)
class RetrieverReader:
    """Answers from retrieved passages only. `depth` are retrieved and reranked, the best `read` of them are read."""

    retriever: Retriever
    reranker: Reranker
    reader: Reader
    depth: int = 20
    read: int = 5

    def answer(self, question: Question, claim: Claim) -> Answer:
        """What the reader finds in the best passages; text None for nothing, with what was looked at all the same."""
        passages = self.retriever.retrieve(question.text, self.depth)
        if not passages:
            return Answer(None, answerer=NAME)
        entered(f"ranking {len(passages)} passages")
        best = self.reranker.rerank(question.text, passages)[: self.read]
        entered(f"reading {len(best)} passages")
        return replace(self.reader.read(question, best), answerer=NAME)
