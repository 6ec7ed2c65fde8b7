"""The baselines: the majority label, the judge without evidence or claim, and a single search for the claim."""

from __future__ import annotations

from app.domain.model import Answer, Claim, Context, Label, LabelSet, Passage, Question
from research.evaluation.baselines import (
    claim_only_predictor,
    evidence_only_predictor,
    majority_predictor,
    single_retrieval_predictor,
)
from research.evaluation.harness import RowResult
from research.evaluation.labels import Gold
from research.tests.evaluation.rows import row


class Shown:
    """A judge that records its rows."""

    def __init__(self) -> None:
        self.rows = []

    def __call__(self, row):
        self.rows.append(row)
        return RowResult(Label.SUPPORTED, 0.9, 0.8)


class Finds:
    """An answerer that retrieves two passages of one page and one of another for any question."""

    def __init__(self) -> None:
        self.asked = []

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        self.asked.append(question.text)
        found = (
            Passage("One.", "Ada", "s", "https://a.example"),
            Passage("Two.", "Ada", "s"),
            Passage("Three.", "B", "s"),
        )
        return Answer("an answer that is passed over", retrieved=found)


def test_the_majority_label_is_the_most_frequent_gold_label_in_the_label_set():
    rows = [row(1, Gold.NOT_SUPPORTED), row(2, Gold.NOT_SUPPORTED), row(3, Gold.SUPPORTED)]
    assert majority_predictor(rows, LabelSet.TWO)(rows[2]).label is Label.REFUTED
    assert majority_predictor(rows[2:], LabelSet.THREE)(rows[0]).label is Label.SUPPORTED


def test_the_claim_alone_is_judged_without_any_evidence():
    judge = Shown()
    assert claim_only_predictor(judge)(row(1, Gold.SUPPORTED)) == RowResult(Label.SUPPORTED, 0.9, 0.8)
    assert judge.rows[0].claim == "Claim 1." and not judge.rows[0].has_evidence


def test_the_evidence_alone_is_judged_without_the_claim():
    judge = Shown()
    assert evidence_only_predictor(judge)(row(1, Gold.SUPPORTED)) == RowResult(Label.SUPPORTED, 0.9, 0.8)
    assert (judge.rows[0].claim, judge.rows[0].passages) == ("", (("Title", "Text."),))


def test_a_single_search_for_the_claim_replaces_the_rows_own_evidence():
    judge, answerer = Shown(), Finds()
    said = single_retrieval_predictor(lambda row: answerer, judge)(row(1, Gold.SUPPORTED))
    assert answerer.asked == ["Claim 1."]
    assert judge.rows[0].passages == (("Ada", "One."), ("Ada", "Two."), ("B", "Three."))
    assert (said.label, said.supported, said.pages) == (Label.SUPPORTED, 0.8, ("Ada", "B"))
    assert [(piece.answer, piece.url) for piece in said.evidence][:2] == [("One.", "https://a.example"), ("Two.", "")]
