"""When the reader finds no answer, a sentence near enough to question and claim is the answer."""

from __future__ import annotations

from dataclasses import replace

from app.domain.model import Answer, Claim, Passage, Question
from app.modules.answerers.retriever_reader import RetrieverReader
from tests.fake_model import SharedWords

ADA = Passage("Ada Stone liked bees. She never sailed to Chur.", "Ada Stone", "test")


class Finds:
    """Retrieves ADA for every query."""

    def retrieve(self, query, k, before=None):
        return (ADA,)


class FindsNothing:
    """A reader without an answer."""

    def read(self, question, passages, claim=None, context=()):
        return Answer(None, retrieved=tuple(passages))


class Doubtful(SharedWords):
    """Ranks by shared words, but every score is negative."""

    def rerank(self, query, passages):
        return tuple(replace(one, score=-1.0) for one in super().rerank(query, passages))


def answer_by(reranker) -> Answer:
    answerer = RetrieverReader(Finds(), reranker, FindsNothing())
    return answerer.answer(Question("Did Ada Stone sail to Chur?"), Claim("Ada Stone sailed to Chur."))


def test_the_nearest_sentence_is_cited_as_the_answer() -> None:
    answer = answer_by(SharedWords())
    assert answer.text == answer.cited.text == "She never sailed to Chur."
    assert answer.cited.passage == replace(ADA, score=answer.cited.passage.score)


def test_a_sentence_that_is_not_near_enough_is_not_an_answer() -> None:
    answer = answer_by(Doubtful())
    assert answer.text is None and answer.cited is None and answer.retrieved


def test_a_sentence_that_is_near_to_the_claim_alone_is_not_an_answer() -> None:
    answerer = RetrieverReader(Finds(), SharedWords(), FindsNothing())
    assert answerer.answer(Question("Which bird?"), Claim("Ada Stone never sailed to Chur.")).text is None
