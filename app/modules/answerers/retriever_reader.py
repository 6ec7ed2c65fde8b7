"""The retriever-reader answerer: BM25, a reranker and an extractive reader (QACheck, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from app.domain.instrumentation import report_phase
from app.domain.messages import Code, Words
from app.domain.model import Answer, Claim, Context, Passage, Question, Span
from app.domain.ports import Reader, Reranker, Retriever
from app.modules.answerers import AnswererKind
from app.modules.judging import is_described, spans_of

NAME = "retriever-reader"


@dataclass(frozen=True)
class RetrieverReader:
    """Implements `QuestionAnswerer` with retrieved passages only.

    It searches for the question alone and for the question with the claim, and ranks passages by both: "Who directed
    this film?" alone is too vague, and the claim distinguishes two people called Frank Gardner. A later question names
    what an earlier one found, so there the question alone ranks, and one passage is read.
    """

    retriever: Retriever
    reranker: Reranker
    reader: Reader
    depth: int = 12  # passages that are retrieved and reranked
    shown: int = 5  # best passages that are part of the answer; the reader reads the first ones
    quoted: int = (
        2  # best passages whose sentence nearest to question and claim is the answer when the reader finds none
    )
    near: float = 1.5  # minimum logit of the reranker for such a sentence by the question alone

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        """Return the reader's answer from the best passages; its text is None if it finds none."""
        in_context = " ".join(dict.fromkeys((question.text, claim.text)))
        passages = self._retrieved(claim.date, question.text, in_context)
        if not passages:
            return Answer(None, answerer=NAME)
        report_phase(Code.RANKING(count=len(passages)))
        best = self._ranked(question.text, in_context, passages, context)[: self.shown]
        report_phase(Code.READING_PASSAGES(count=len(best)))
        answer = self.reader.read(question, best, claim, context)
        if answer.text is None:
            answer = self._nearest(answer, question.text, in_context, best[: self.quoted])
        return replace(answer, answerer=NAME)

    def _nearest(self, answer: Answer, question: str, in_context: str, passages: Sequence[Passage]) -> Answer:
        """Return the sentence nearest to question and claim as the answer; `answer` itself if it scores below `near`.

        A sentence about the claim's subject is near to the claim, even where it says nothing of what is asked.
        """
        spans: dict[str, Span] = {}
        for span in (span for passage in passages for span in spans_of(passage) if not is_described(span)):
            spans.setdefault(span.text, span)
        ranked = self.reranker.rerank(in_context, [replace(span.passage, text=text) for text, span in spans.items()])
        if not ranked or self.reranker.rerank(question, ranked[:1])[0].score < self.near:
            return answer
        return replace(answer, text=ranked[0].text, cited=spans[ranked[0].text])

    def _ranked(self, question: str, in_context: str, passages: Sequence[Passage], context: Context) -> list[Passage]:
        by_question = self.reranker.rerank(question, passages)
        if context:
            known = {(each.title, each.text) for hop in context if hop.answer for each in hop.answer.retrieved}
            first, *rest = by_question
            return [first, *sorted(rest, key=lambda each: (each.title, each.text) in known)]
        both = self.reranker.rerank(in_context, passages)
        in_turn = chain.from_iterable(zip(by_question, both, strict=True))
        return list({(each.title, each.text): each for each in in_turn}.values())

    def _retrieved(self, before: str | None, *queries: str) -> list[Passage]:
        rankings = (self.retriever.retrieve(query, self.depth, before) for query in dict.fromkeys(queries))
        in_turn = chain.from_iterable(zip_longest(*rankings))
        return [*{each.text: each for each in in_turn if each}.values()][: self.depth]


KIND = AnswererKind(
    title=Words("Retriever and reader: the best of many passages"),
    needs=("local model", "reranker", "corpus"),
    describe=lambda options, settings: f"passages of {', '.join(options.corpora)}, read by the local model",
    build=lambda parts: RetrieverReader(parts.retriever(), parts.reranker, parts.reader),
)
