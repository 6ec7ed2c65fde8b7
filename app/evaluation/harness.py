"""Measuring: rows in, a prediction for each out; figures.py has the figures over all of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.evaluation.datasets import Row
from app.evaluation.labels import MATCHES
from app.evaluation.predictions import Prediction, Predictions
from app.reasoning.errors import CallFailed, ModelUnavailable
from app.reasoning.types import Label, LabelSet


@dataclass(frozen=True, slots=True)
class Judged:
    """A label with its confidence, and the probability of SUPPORTED (None: not known)."""

    label: Label
    confidence: float | None = None
    supported: float | None = None


Judge = Callable[[Row], Judged]
"""Says what it makes of a row without looking at its label. May raise CallFailed."""


def chosen(
    rows: Sequence[Row], labels: LabelSet, seed: int, limit: int | None, gold: bool = True
) -> tuple[list[Row], dict[str, int]]:
    """The rows to measure, and how many were left out, by why: no label of `labels` is right, or nothing to judge by.

    `gold` says that a row's own evidence is what is judged by.

    Shuffled by `seed`, then the first `limit`: a larger limit has the rows of a smaller one, and more.
    """
    kept: list[Row] = []
    left_out: Counter[str] = Counter()
    for row in rows:
        if not MATCHES[row.label][labels]:
            left_out[row.label.value] += 1
        elif gold and not row.has_evidence:
            left_out["no gold evidence"] += 1
        else:
            kept.append(row)
    random.Random(seed).shuffle(kept)
    return kept[:limit], dict(left_out)


def predict(rows: Sequence[Row], judge: Judge, predictions: Predictions) -> Iterator[Prediction]:
    """Each row's prediction, in their order, written down before it is handed on.

    Those already made are taken as they are, those that failed are tried again. A failed call is a failed prediction;
    ModelUnavailable is raised, for every row would fail.
    """
    for row in rows:
        found = predictions.made.get(row.id)
        if found is None or found.label is None:
            found = _predicted(row, judge)
            predictions.add(found)
        yield found


def _predicted(row: Row, judge: Judge) -> Prediction:
    try:
        said = judge(row)
    except ModelUnavailable:
        raise
    except CallFailed as error:
        return Prediction(row.id, row.label.value, problem=str(error))
    return Prediction(row.id, row.label.value, said.label, said.confidence, said.supported)


def is_right(row: Row, prediction: Prediction, labels: LabelSet) -> bool:
    """Whether the prediction is one of those that match the row's label; one that failed is not."""
    return prediction.label in MATCHES[row.label][labels]
