"""Recall of gold pages, against values computed by hand."""

from __future__ import annotations

import pytest

from app.domain.model import Label, LabelSet
from research.evaluation.datasets import Row
from research.evaluation.labels import Gold
from research.evaluation.predictions import Prediction
from research.evaluation.report import compute_figures
from research.evaluation.retrieval import page_recall


def row(number: int, *titles: str, hops: int = 2) -> Row:
    return Row(f"r{number}", "Claim.", Gold.SUPPORTED, tuple((title, "Text.") for title in titles), hops=hops)


def looked_at(number: int, *titles: str) -> Prediction:
    return Prediction(f"r{number}", "SUPPORTED", Label.SUPPORTED, pages=titles)


def test_recall_is_the_mean_share_of_gold_pages_retrieved():
    # One of two, both of two, none of one: (1/2 + 1 + 0) / 3; one row of three has them all.
    rows = [row(1, "Ada", "Basel"), row(2, "Ada", "Basel"), row(3, "Ada")]
    found = [looked_at(1, "Ada", "Bern"), looked_at(2, "Basel", "Ada"), looked_at(3, "Bern")]
    assert page_recall(rows, found) == {"n": 3, "recall": pytest.approx(0.5), "whole": pytest.approx(1 / 3)}


def test_titles_match_regardless_of_underscores_and_case_and_count_once():
    found = page_recall([row(1, "Ada Stone", "Ada Stone", "Basel")], [looked_at(1, "ada_stone")])
    assert found == {"n": 1, "recall": 0.5, "whole": 0.0}


def test_a_failed_prediction_retrieved_nothing():
    found = page_recall([row(1, "Ada"), row(2, "Ada")], [looked_at(1, "Ada"), Prediction("r2", "SUPPORTED")])
    assert found and found["recall"] == 0.5


def test_without_a_search_or_without_titles_there_is_no_recall():
    assert page_recall([row(1, "Ada")], [Prediction("r1", "SUPPORTED")]) is None
    assert page_recall([row(1, "")], [looked_at(1, "Ada")]) is None


def test_recall_is_reported_by_number_of_hops():
    rows = [row(1, "Ada", hops=2), row(2, "Ada", hops=3)]
    figures = compute_figures(rows, [looked_at(1, "Ada"), looked_at(2, "Bern")], LabelSet.TWO)
    assert figures["retrieval"]["recall"] == 0.5
    assert [figures["by_hops"][hops]["retrieval"]["recall"] for hops in ("2", "3")] == [1, 0]
