"""The figures over a set's rows and their predictions: all of them, by class, and by the number of hops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from app.evaluation.datasets import Row
from app.evaluation.harness import is_right
from app.evaluation.labels import Gold, as_gold
from app.evaluation.metrics import auc, f1_of, macro_f1, precision_of, recall_of
from app.evaluation.predictions import Prediction
from app.reasoning.types import LabelSet


def measured(rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet) -> dict[str, Any]:
    """The figures over rows and their predictions, in the same order; failed predictions count as wrong.

    `auc` is of SUPPORTED against all else, None when one of the two is missing or no probabilities are known.
    """
    pairs = list(zip(rows, predictions, strict=True))
    classes = sorted({row.label for row in rows})
    told = [as_gold(prediction.label, row.label, classes) for row, prediction in pairs]
    gold = [row.label.value for row in rows]
    hops = sorted({row.hops for row in rows if row.hops is not None})
    return _figures(pairs, told, gold, labels) | {
        "per_class": {label.value: _of_class(label.value, told, gold) for label in classes},
        "by_hops": {
            str(count): _figures(
                [pairs[at] for at in places], [told[at] for at in places], [gold[at] for at in places], labels
            )
            for count in hops
            if (places := [at for at, row in enumerate(rows) if row.hops == count])
        },
    }


def _figures(
    pairs: Sequence[tuple[Row, Prediction]], told: Sequence[str], gold: Sequence[str], labels: LabelSet
) -> dict[str, Any]:
    return {
        "n": len(pairs),
        "failed": sum(prediction.label is None for _, prediction in pairs),
        "accuracy": sum(is_right(row, prediction, labels) for row, prediction in pairs) / len(pairs),
        "macro_f1": macro_f1(told, gold),
        "auc": _auc(pairs),
    }


def _auc(pairs: Sequence[tuple[Row, Prediction]]) -> float | None:
    """A failed prediction stands at the wrong end, so that failing never makes the figure better."""
    positive = [row.label is Gold.SUPPORTED for row, _ in pairs]
    known = any(prediction.supported is not None for _, prediction in pairs)
    if not known or len(set(positive)) < 2:
        return None
    scores = [
        prediction.supported if prediction.supported is not None else -math.inf if supported else math.inf
        for (_, prediction), supported in zip(pairs, positive, strict=True)
    ]
    return auc(scores, positive)


def _of_class(label: str, told: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    return {
        "n": gold.count(label),
        "precision": precision_of(label, told, gold),
        "recall": recall_of(label, told, gold),
        "f1": f1_of(label, told, gold),
    }
