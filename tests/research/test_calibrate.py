"""The bounds are the smallest that keep verdicts right and false claims out; stored runs are read back unchanged."""

from __future__ import annotations

import numpy as np

from app.domain.model import HopStatus
from research.claims.calibrate import kept_context, supported_threshold, threshold_for

S, R, N = "SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE"


def rows_of(*supported: float) -> np.ndarray:
    return np.array([[p, 0.0, 1 - p] for p in supported])


def test_the_smallest_bound_with_the_wanted_precision_is_chosen() -> None:
    rows = rows_of(*([0.95] * 9), 0.9, 0.8, 0.7, 0.6)
    labels = [*([S] * 9), R, S, R, R]
    assert threshold_for(rows, labels) == 0.8  # 10 of 11 right; with 0.7 only 10 of 12
    assert threshold_for(rows, [R] * 13) == 0.99


def test_undecided_rows_do_not_set_a_bound() -> None:
    rows = rows_of(*([0.9] * 10), 0.3, 0.2)
    assert threshold_for(rows, [*([S] * 10), N, N]) == 0.9


def test_the_bound_for_supported_lets_few_false_claims_through_and_is_no_lower_than_the_other() -> None:
    rows = rows_of(*(at / 100 for at in range(50)), 0.9)
    labels = [*([R] * 50), S]
    bound = supported_threshold(rows, labels, at_least=0.3)
    assert sum(row[0] >= bound for row in rows[:50]) == 2
    assert supported_threshold(rows, labels, at_least=0.6) == 0.6


def test_a_stored_run_gives_its_kept_hops_with_their_citations() -> None:
    passage = {"title": "Ada", "text": "Ada was a painter. She was born in Basel."}
    kept = {
        "question": "Where was Ada born?",
        "answer": "Basel",
        "status": "kept",
        "cited_title": "Ada",
        "cited_sentence": "She was born in Basel.",
        "passages": [passage],
    }
    aside = {**kept, "status": "set_aside", "answer": None, "cited_title": None, "cited_sentence": None}
    (hop,) = kept_context({"trail": [aside, kept]})
    assert (hop.number, hop.status, hop.answer.cited.text) == (2, HopStatus.KEPT, "Basel")
