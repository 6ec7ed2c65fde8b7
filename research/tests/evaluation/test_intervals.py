"""Bootstrap intervals contain the metric, are reproducible by seed, and narrow with more rows."""

from __future__ import annotations

import pytest

from research.evaluation.metrics import accuracy_interval, macro_f1, macro_f1_interval

GOLD = ["S", "S", "S", "R", "R", "N"] * 10
PREDICTED = ["S", "S", "R", "R", "", "N"] * 10


def test_the_interval_of_an_accuracy_is_the_binomial_one():
    # 100 rows, half of them right: the standard deviation of the share is 0.05, so 95% are within 1.96 of them.
    low, high = accuracy_interval([True, False] * 50, seed=7)
    assert (low, high) == (pytest.approx(0.402, abs=0.02), pytest.approx(0.598, abs=0.02))


def test_macro_f1_is_within_its_interval():
    low, high = macro_f1_interval(PREDICTED, GOLD, seed=7)
    assert low < macro_f1(PREDICTED, GOLD) < high


def test_perfect_predictions_have_a_zero_width_interval():
    assert macro_f1_interval(GOLD, GOLD, seed=7) == (1, 1)


def test_a_prediction_outside_the_classes_is_wrong_in_every_resample():
    assert macro_f1_interval(["", "x"] * 20, ["S", "R"] * 20, seed=7) == (0, 0)


def test_intervals_are_reproducible_by_seed_and_narrow_with_more_rows():
    assert (
        macro_f1_interval(PREDICTED, GOLD, 1)
        == macro_f1_interval(PREDICTED, GOLD, 1)
        != macro_f1_interval(PREDICTED, GOLD, 2)
    )
    low, high = macro_f1_interval(PREDICTED, GOLD, 7)
    more_low, more_high = macro_f1_interval(PREDICTED * 9, GOLD * 9, 7)
    assert more_high - more_low < (high - low) / 2


def test_one_row_has_no_interval():
    assert accuracy_interval([True], 7) is None and macro_f1_interval(["S"], ["S"], 7) is None
