"""The reasoner over gold evidence gives the same result as in a run, and its model computes once per row."""

from __future__ import annotations

import pytest

from app.domain.instrumentation import Call, cached_call
from app.domain.model import Label, LabelSet
from app.domain.ports import Bounds
from research.evaluation.gold import gold_predictor
from research.evaluation.labels import Gold
from tests.evaluation.rows import row
from tests.judges import over


class CountingJudge:
    """Computes the same probabilities for all pairs, through `cached_call` like the bundled judge."""

    def __init__(self, *probabilities: float) -> None:
        self.probabilities, self.computed = list(probabilities), 0

    def classify(self, pairs, asked=()):
        return [tuple(self._computed(claim, passages)) for claim, passages in pairs]

    def _computed(self, claim, passages):
        def compute():
            self.computed += 1
            return self.probabilities

        return cached_call(Call("counting judge", {"claim": claim, "passages": passages}), compute)


def test_the_model_computes_once_per_row_and_caches_nothing_between_rows():
    judge = CountingJudge(0.8, 0.15, 0.05)
    judged = gold_predictor(over(judge), Bounds(0.6, 0.6), LabelSet.THREE)
    judged(row(1, Gold.SUPPORTED))
    judged(row(1, Gold.SUPPORTED))
    assert judge.computed == 2


@pytest.mark.parametrize(
    ("labels", "label", "confidence"),
    [(LabelSet.TWO, Label.SUPPORTED, 0.55), (LabelSet.THREE, Label.NOT_ENOUGH_EVIDENCE, None)],
)
def test_the_fitted_bound_applies_only_when_not_enough_is_a_label_and_never_to_the_score(labels, label, confidence):
    said = gold_predictor(over(CountingJudge(0.5, 0.3, 0.2)), Bounds(0.7, 0.7), labels)(row(1, Gold.SUPPORTED))
    assert (said.label, said.supported) == (label, pytest.approx(0.5))
    assert said.confidence == (confidence and pytest.approx(confidence))
