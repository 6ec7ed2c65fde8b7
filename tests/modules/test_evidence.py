"""The judge's input: sentences of the answers, sentences that decide the claim, and the questions asked."""

from __future__ import annotations

from dataclasses import replace

from app.domain.model import Answer, Hop, HopStatus, Passage, Question, Span
from app.modules.judging import MAX_SELECTED, by_title, cited_pairs, evidence_of, select
from tests.judges import SharedWords

CLAIM = "Ada Stone sailed to Chur in 1840."
ADA = Passage(
    "Ada Stone was a painter. She liked bees. She was born in Basel. In 1840 she sailed to Chur. She died in Bonn.",
    "Ada Stone",
    "test",
)
CHUR = Passage("Chur is a town.", "Chur", "test")
WHERE = "Where was Ada Stone born?"


def hop(question: str, answer: str | None, cited: Passage | None = None, *read: Passage, number: int = 1) -> Hop:
    start = cited.text.index(answer) if cited and answer else 0
    span = Span(cited, start, start + len(answer or "")) if cited else None
    return Hop(number, Question(question), Answer(answer, span, read), HopStatus.KEPT)


def texts(*context: Hop) -> list[str]:
    return [one.text for one in evidence_of(CLAIM, context, SharedWords()).excerpts]


def test_the_decisive_sentence_precedes_that_of_the_answer() -> None:
    found = texts(hop(WHERE, "Basel", ADA, ADA))
    assert (found[0], found[-1]) == ("In 1840 she sailed to Chur.", "She was born in Basel.")


def test_a_passage_that_no_answer_cites_is_read() -> None:
    (first, second) = evidence_of(CLAIM, (hop(WHERE, "Basel", ADA, CHUR, number=4),), SharedWords()).excerpts
    assert (first.title, first.hop, second.title) == ("Chur", 4, "Ada Stone")


def test_a_later_sentence_is_selected_given_the_earlier_ones() -> None:
    class Steps:
        """Implements Reranker: prefers ADA's sentence, then CHUR's if ADA's is in the query."""

        def rerank(self, query, passages):
            scored = [replace(one, score=self.score(query, one.title)) for one in passages]
            return tuple(sorted(scored, key=lambda one: -one.score))

        def score(self, query, title):
            return {"Ada Stone": 2.0, "Chur": 1.0 if "painter" in query else -3.0}.get(title, -1.0)

    painter = Passage("Ada Stone was a painter.", "Ada Stone", "test")
    bees = Passage("Bees fly.", "Bees", "test")
    assert [one.title for one in select(CLAIM, [bees, CHUR, painter], Steps())] == ["Ada Stone", "Chur"]


def test_only_a_few_sentences_are_added_to_those_of_the_answers() -> None:
    many = Passage(" ".join(f"Ada Stone saw bee {number}." for number in range(20)), "Bees", "test")
    assert len(texts(hop(WHERE, "Basel", ADA, many))) == MAX_SELECTED + 1


def test_sentences_of_one_title_are_one_text() -> None:
    context = (hop(WHERE, "Basel", ADA), hop("Where did Ada Stone die?", "Bonn", ADA, CHUR))
    assert by_title(evidence_of(CLAIM, context, SharedWords()).excerpts) == [
        ("Chur", "Chur is a town."),
        ("Ada Stone", "She was born in Basel. She died in Bonn."),
    ]


def test_an_answer_without_a_citation_is_evidence_with_its_question() -> None:
    assert texts(hop(WHERE, "Basel"), hop("What is Chur?", None)) == [f"{WHERE} Basel"]


def test_a_gold_passage_of_a_dataset_is_kept_whole() -> None:
    gold = Hop(1, Question(""), Answer("", Span(ADA, 0, 0)), HopStatus.KEPT)
    assert texts(gold) == [ADA.text]
    assert evidence_of(CLAIM, (gold,), SharedWords()).selected == ()
    assert cited_pairs((gold,)) == []


def test_the_judge_reads_the_questions_answered_by_a_span_of_a_passage() -> None:
    unanswered, uncited = hop("What is Chur?", None), hop("Who was Ada?", "a painter")
    whole = hop("Is Chur a town?", CHUR.text, CHUR)
    assert cited_pairs((hop(WHERE, "Basel", ADA), unanswered, uncited, whole)) == [(WHERE, "Basel")]
