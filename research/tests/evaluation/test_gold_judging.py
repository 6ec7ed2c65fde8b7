"""The reasoner over gold evidence gives the same result as in a run."""

from __future__ import annotations

import pytest

from app.domain.model import Label, LabelSet
from research.evaluation.gold import gold_predictor
from research.evaluation.labels import Gold
from research.tests.evaluation.rows import row
from tests.fake_model import judge_of


@pytest.mark.parametrize(
    ("labels", "label", "confidence"),
    [(LabelSet.TWO, Label.SUPPORTED, 0.55), (LabelSet.THREE, Label.NOT_ENOUGH_EVIDENCE, None)],
)
def test_the_fitted_bound_applies_only_when_not_enough_is_a_label_and_never_to_the_score(labels, label, confidence):
    said = gold_predictor(judge_of(0.5, 0.3, 0.2), labels)(row(1, Gold.SUPPORTED))
    assert (said.label, said.supported) == (label, pytest.approx(0.5))
    assert said.confidence == (confidence and pytest.approx(confidence))
