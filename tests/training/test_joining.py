"""Fitting the joined decision: the right direction for each weight, and every data set with an even voice."""

import numpy as np
import pytest

from app.modules.judging.calibrated import JUDGE, SIGNALS
from research.training.joining import Joining, joined_rows, logistic, signals_of
from research.training.pairs import NOT_ENOUGH, REFUTED, SUPPORTED, Pair

TEXT = (("Paris", "Paris is the capital of France."),)
CLAIMS = [
    ("Paris is the capital of France.", SUPPORTED),
    ("Paris is the capital of Spain.", REFUTED),
    ("London hosts Wimbledon and Lords.", NOT_ENOUGH),
] * 8
PAIRS = [
    Pair(("hover_dev-2hop", "feverous_s_dev")[at % 2], claim, TEXT, label, False)
    for at, (claim, label) in enumerate(CLAIMS)
]
UNSURE = np.full((len(PAIRS), 3), 1 / 3)


def test_a_logistic_regression_finds_what_decides():
    columns = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 4.0], [1.0, 4.0]] * 50)
    bias, first, second = logistic(columns, columns[:, 0], np.ones(len(columns)))
    assert first > 3
    assert abs(second) < 0.1
    assert bias + 5 * second < 0 < bias + first + 5 * second


def test_a_row_without_weight_has_no_say():
    columns, target = np.array([[0.0], [1.0], [0.0], [1.0]] * 20), np.array([0.0, 1.0, 1.0, 0.0] * 20)
    half = np.tile([1.0, 1.0, 0.0, 0.0], 20)
    assert logistic(columns, target, half)[1] > 3
    assert logistic(columns, target, np.ones(80))[1] == pytest.approx(0, abs=1e-3)


def test_with_an_unsure_judge_the_signals_decide():
    found = signals_of(PAIRS)
    joint = Joining(PAIRS).fit(PAIRS, UNSURE, found)
    rows = joined_rows(joint, UNSURE, found)
    assert rows[0, 0] > rows[1, 0] > rows[2, 0]
    assert rows[2, 2] > rows[1, 2]
    assert rows.sum(axis=1) == pytest.approx(1)


def test_with_a_judge_that_knows_its_word_counts():
    knowing = np.array(
        [[0.9 if p.label == label else 0.05 for label in (SUPPORTED, REFUTED, NOT_ENOUGH)] for p in PAIRS]
    )
    joint = Joining(PAIRS).fit(PAIRS, knowing, signals_of(PAIRS))
    assert joint.supported[JUDGE] > 0.1
    assert joint.refuted[JUDGE] > 0.1
    assert set(joint.supported) == {"bias", JUDGE, *SIGNALS}
