"""The label table: HoVer's "not supported" matches both other labels, and no other labels are merged."""

from __future__ import annotations

import pytest

from app.domain.model import Label, LabelSet
from research.evaluation.labels import MATCHES, Gold, as_gold, gold_label


def test_not_supported_is_matched_by_refuted_and_by_not_enough():
    three = MATCHES[Gold.NOT_SUPPORTED][LabelSet.THREE]
    assert set(three) == {Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE}
    assert MATCHES[Gold.NOT_SUPPORTED][LabelSet.TWO] == (Label.REFUTED,)


def test_every_gold_label_matches_only_labels_of_the_label_set():
    for gold in Gold:
        for labels in LabelSet:
            assert set(MATCHES[gold][labels]) <= set(labels.labels)


def test_an_unknown_spelling_is_not_a_label():
    assert gold_label("likely true") is None
    assert gold_label(" not  enough evidence ") is Gold.NOT_ENOUGH_EVIDENCE


HOVER, FEVER = (Gold.SUPPORTED, Gold.NOT_SUPPORTED), (Gold.SUPPORTED, Gold.REFUTED)


@pytest.mark.parametrize(
    ("predicted", "gold", "classes", "counts_for"),
    [
        (Label.REFUTED, Gold.NOT_SUPPORTED, HOVER, "NOT_SUPPORTED"),
        (Label.NOT_ENOUGH_EVIDENCE, Gold.NOT_SUPPORTED, HOVER, "NOT_SUPPORTED"),
        (Label.NOT_ENOUGH_EVIDENCE, Gold.SUPPORTED, HOVER, "NOT_SUPPORTED"),
        (Label.SUPPORTED, Gold.NOT_SUPPORTED, HOVER, "SUPPORTED"),
        (Label.NOT_ENOUGH_EVIDENCE, Gold.SUPPORTED, FEVER, "NOT_ENOUGH_EVIDENCE"),
        (Label.REFUTED, Gold.SUPPORTED, (*FEVER, Gold.NOT_SUPPORTED), "REFUTED"),
        (None, Gold.NOT_SUPPORTED, HOVER, ""),
    ],
)
def test_a_prediction_counts_for_a_class_of_the_dataset(predicted, gold, classes, counts_for):
    assert as_gold(predicted, gold, classes) == counts_for


def test_with_two_labels_not_enough_evidence_counts_for_no_class():
    for gold in (Gold.NOT_SUPPORTED, Gold.NOT_ENOUGH_EVIDENCE):
        assert as_gold(Label.NOT_ENOUGH_EVIDENCE, gold, (*HOVER, gold), LabelSet.TWO) == ""
    assert as_gold(Label.REFUTED, Gold.NOT_SUPPORTED, HOVER, LabelSet.TWO) == "NOT_SUPPORTED"
