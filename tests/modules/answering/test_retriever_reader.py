"""The retriever-reader answerer: queries, reranking, the passages given to the reader, and the nearest sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question
from app.modules.answerers.retriever_reader import RetrieverReader
from tests.fake_model import SharedWords

QUESTION, CLAIM = Question("Who directed this film?"), Claim("Ada Stone acted in Rain.")
IN_CONTEXT = "Who directed this film? Ada Stone acted in Rain."


def page(title: str, text: str = "Some text.") -> Passage:
    return Passage(f"{title}. {text}", title, "test")


@dataclass
class Library:
    """Returns scripted results for each query, and ranks by title in reverse order."""

    found: dict[str, tuple[Passage, ...]]
    asked: list[str] = field(default_factory=list)
    ranked_by: list[str] = field(default_factory=list)

    def retrieve(self, query, k, before=None):
        self.asked.append(query)
        return self.found.get(query, ())[:k]

    def rerank(self, query, passages):
        self.ranked_by.append(query)
        return tuple(sorted(passages, key=lambda passage: passage.title, reverse=True))


class FirstLine:
    """Answers with the best passage."""

    def read(self, question, passages, claim=None, context=()):
        return Answer(passages[0].title, retrieved=tuple(passages))


def answered(library: Library, question: Question = QUESTION, **settings: int) -> Answer:
    return RetrieverReader(library, library, FirstLine(), **settings).answer(question, CLAIM)


def test_the_question_is_searched_alone_and_with_the_claim_and_reranked_by_both():
    library = Library({QUESTION.text: (page("A"), page("B")), IN_CONTEXT: (page("C"), page("B"))})
    answer = answered(library)
    assert library.asked == [QUESTION.text, IN_CONTEXT]
    assert library.ranked_by == [QUESTION.text, IN_CONTEXT]
    assert [each.title for each in answer.retrieved] == ["C", "B", "A"]


def test_a_later_question_ranks_alone_and_passages_read_before_come_after_the_best():
    library = Library({QUESTION.text: (page("A"), page("B"), page("C"))})
    before = Hop(1, Question("Who acted?"), Answer("Ada", retrieved=(page("C"), page("B"))), HopStatus.KEPT)
    answer = RetrieverReader(library, library, FirstLine()).answer(QUESTION, CLAIM, (before,))
    assert library.ranked_by == [QUESTION.text]
    assert [each.title for each in answer.retrieved] == ["C", "A", "B"]


def test_both_searches_contribute_to_the_reranked_passages():
    library = Library({QUESTION.text: (page("A"), page("B")), IN_CONTEXT: (page("C"), page("D"))})
    assert [each.title for each in answered(library, depth=2).retrieved] == ["C", "A"]


def test_a_question_equal_to_the_claim_is_searched_once():
    library = Library({CLAIM.text: (page("A"),)})
    answered(library, Question(CLAIM.text))
    assert library.asked == [CLAIM.text]


def test_an_empty_search_gives_no_answer_and_no_reranking():
    library = Library({})
    assert answered(library) == Answer(None, answerer="retriever-reader")
    assert library.ranked_by == []


ADA = Passage("Ada Stone liked bees. She never sailed to Chur.", "Ada Stone", "test")
FINDS_ADA = SimpleNamespace(retrieve=lambda query, k, before: (ADA,))


class FindsNothing:
    """A reader without an answer."""

    def read(self, question, passages, claim=None, context=()):
        return Answer(None, retrieved=tuple(passages))


class Doubtful(SharedWords):
    """Ranks by shared words, but every score is negative."""

    def rerank(self, query, passages):
        return tuple(replace(one, score=-1.0) for one in super().rerank(query, passages))


def nearest(reranker, question="Did Ada Stone sail to Chur?", claim="Ada Stone sailed to Chur.") -> Answer:
    return RetrieverReader(FINDS_ADA, reranker, FindsNothing()).answer(Question(question), Claim(claim))


def test_the_nearest_sentence_is_cited_as_the_answer() -> None:
    answer = nearest(SharedWords())
    assert answer.text == answer.cited.text == "She never sailed to Chur."
    assert answer.cited.passage == replace(ADA, score=answer.cited.passage.score)


def test_a_sentence_that_is_not_near_enough_is_not_an_answer() -> None:
    answer = nearest(Doubtful())
    assert answer.text is None and answer.cited is None and answer.retrieved


def test_a_sentence_that_is_near_to_the_claim_alone_is_not_an_answer() -> None:
    assert nearest(SharedWords(), "Which bird?", "Ada Stone never sailed to Chur.").text is None
