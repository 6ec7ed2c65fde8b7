"""The retriever-reader answerer: BM25, a reranker and an extractive reader (QACheck, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from app.domain.instrumentation import report_phase
from app.domain.model import Answer, Claim, Passage, Question, Span
from app.domain.ports import Reader, Reranker, Retriever
from app.modules.answerers import AnswererKind, Need, reader_name
from app.text.sentences import sentence_spans

NAME = "retriever-reader"


@dataclass(frozen=True)
class RetrieverReader:
    """Implements `QuestionAnswerer` with retrieved passages only.

    It searches for the question alone and for the question with the claim, and ranks passages by both: "Who directed
    this film?" alone is too vague, and the claim distinguishes two people called Frank Gardner.
    """

    retriever: Retriever
    reranker: Reranker
    reader: Reader
    depth: int = 20  # passages that are retrieved and reranked
    read: int = 5  # best passages that are read
    near: float = 0.0  # minimum logit of the reranker for a sentence to be the answer when the reader finds none

    def answer(self, question: Question, claim: Claim) -> Answer:
        """Return the reader's answer from the best passages, else their sentence nearest to question and claim.

        If neither is found, the answer has text None and the passages that were read.
        """
        in_context = " ".join(dict.fromkeys((question.text, claim.text)))
        passages = self._retrieved(claim.date, question.text, in_context)
        if not passages:
            return Answer(None, answerer=NAME)
        report_phase(f"ranking {len(passages)} passages")
        best = self.reranker.rerank(in_context, passages)[: self.read]
        report_phase(f"reading {len(best)} passages")
        answer = self.reader.read(question, best)
        if answer.text is None:
            answer = self._nearest(answer, in_context, best)
        return replace(answer, answerer=NAME)

    def _nearest(self, answer: Answer, in_context: str, passages: Sequence[Passage]) -> Answer:
        """Return the sentence nearest to question and claim as the answer; `answer` itself if none scores `near`."""
        spans: dict[str, Span] = {}
        for span in (Span(passage, *place) for passage in passages for place in sentence_spans(passage.text)):
            spans.setdefault(span.text, span)
        ranked = self.reranker.rerank(in_context, [replace(span.passage, text=text) for text, span in spans.items()])
        if not ranked or ranked[0].score < self.near:
            return answer
        return replace(answer, text=ranked[0].text, cited=spans[ranked[0].text])

    def _retrieved(self, before: str | None, *queries: str) -> list[Passage]:
        """Return the first `depth` passages of the interleaved rankings of all queries, each passage once."""
        rankings = (self.retriever.retrieve(query, self.depth, before) for query in dict.fromkeys(queries))
        in_turn = chain.from_iterable(zip_longest(*rankings))
        return [*{each.text: each for each in in_turn if each}.values()][: self.depth]


KIND = AnswererKind(
    title="Retriever and reader: the best of many passages",
    needs=(Need.READER, Need.CORPUS),
    describe=lambda options, settings: f"{NAME} over {', '.join(options.corpora)}, read by {reader_name(settings)}",
    build=lambda parts: RetrieverReader(parts.retriever(), parts.reranker, parts.reader),
)
