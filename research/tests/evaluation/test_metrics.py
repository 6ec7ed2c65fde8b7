"""The metrics equal values computed by hand."""

import pytest

from research.evaluation.metrics import auc, class_f1, expected_calibration_error, macro_f1, risk_coverage_curve


def test_auc_counts_correctly_ordered_pairs_and_half_of_ties():
    assert auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False]) == pytest.approx(3.5 / 4)


def test_auc_needs_both_classes():
    with pytest.raises(ValueError, match="both classes"):
        auc([0.1, 0.2], [True, True])


def test_f1_and_macro_f1_equal_values_computed_by_hand():
    predicted, gold = ["S", "S", "R", "N"], ["S", "R", "R", "R"]
    assert class_f1("S", predicted, gold) == pytest.approx(2 / 3)
    assert class_f1("R", predicted, gold) == pytest.approx(0.5)
    assert macro_f1(predicted, gold) == pytest.approx((2 / 3 + 0.5) / 2)
    assert macro_f1([], []) == 0.0


def test_calibration_error_is_the_weighted_gap_between_confidence_and_accuracy():
    assert expected_calibration_error([0.9, 0.9, 0.6, 0.6], [True, True, True, False], bins=5) == pytest.approx(0.1)


def test_risk_at_a_coverage_is_the_error_rate_of_the_most_confident():
    sure, right = [0.9, 0.8, 0.7, 0.6], [True, True, False, True]
    assert risk_coverage_curve(sure, right, steps=4) == [(0.25, 0), (0.5, 0), (0.75, pytest.approx(1 / 3)), (1, 0.25)]


def test_there_is_no_risk_curve_without_predictions():
    assert risk_coverage_curve([], []) == []
