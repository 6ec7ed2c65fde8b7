"""The retriever-reader answerer: BM25, a reranker, an extractive reader (QACheck, section 3.3, its third QA model)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from app.domain.model import Answer, Claim, Passage, Question
from app.domain.ports import Reader, Reranker, Retriever
from app.domain.progress import entered
from app.modules.answering.definition import definition

NAME = "retriever-reader"


@dataclass(frozen=True)
class RetrieverReader:
    """Answers from retrieved passages only. `depth` are retrieved and reranked, the best `read` of them are read.

    A question is searched for by itself and with the claim, and its passages are ranked by both: "Who directed this
    film?" says too little alone, and of two Frank Gardners the claim knows which.
    """

    retriever: Retriever
    reranker: Reranker
    reader: Reader
    depth: int = 20
    read: int = 5

    def answer(self, question: Question, claim: Claim) -> Answer:
        """What the reader finds in the best passages; text None for nothing, with what was looked at all the same."""
        in_context = " ".join(dict.fromkeys((question.text, claim.text)))
        passages = self._retrieved(question.text, in_context)
        if not passages:
            return Answer(None, answerer=NAME)
        entered(f"ranking {len(passages)} passages")
        best = self.reranker.rerank(in_context, passages)[: self.read]
        entered(f"reading {len(best)} passages")
        return replace(definition(question.text, best) or self.reader.read(question, best), answerer=NAME)

    def _retrieved(self, *queries: str) -> list[Passage]:
        """The first `depth` passages of the rankings of all queries in turn, each passage once."""
        rankings = (self.retriever.retrieve(query, self.depth) for query in dict.fromkeys(queries))
        in_turn = chain.from_iterable(zip_longest(*rankings))
        return [*{each.text: each for each in in_turn if each}.values()][: self.depth]
