"""The figures over a set's rows and their predictions: all of them, by class, and by the number of hops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.domain.model import LabelSet
from app.evaluation.datasets import Row
from app.evaluation.harness import is_right
from app.evaluation.intervals import accuracy_interval, macro_f1_interval
from app.evaluation.labels import Gold, as_gold
from app.evaluation.metrics import auc, f1_of, macro_f1, precision_of, recall_of
from app.evaluation.predictions import Prediction
from app.evaluation.retrieval import page_recall

FAILED = "failed"
"""What a prediction that failed stands under, beside the labels."""


def measured(rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet, seed: int = 7) -> dict[str, Any]:
    """The figures over rows and their predictions, in the same order; failed predictions count as wrong.

    `auc` is of SUPPORTED against all else, None when one of the two is missing or no probabilities are known. The
    intervals are of 95%, by a bootstrap over the rows that `seed` makes repeatable.
    """
    pairs = list(zip(rows, predictions, strict=True))
    classes = sorted({row.label for row in rows})
    told = [as_gold(prediction.label, row.label, classes) for row, prediction in pairs]
    gold = [row.label.value for row in rows]

    def over(places: Sequence[int]) -> dict[str, Any]:
        chosen = [pairs[at] for at in places]
        return _figures(chosen, [told[at] for at in places], [gold[at] for at in places], labels, seed)

    hops = sorted({row.hops for row in rows if row.hops is not None})
    return over(range(len(pairs))) | {
        "per_class": {label.value: _of_class(label.value, told, gold) for label in classes},
        "by_hops": {str(count): over([at for at, row in enumerate(rows) if row.hops == count]) for count in hops},
        "confusion": {label.value: _said_of(label, pairs) for label in Gold if label in classes},
        "problems": dict(Counter(prediction.problem for _, prediction in pairs if prediction.problem)),
        "troubles": sum(len(prediction.troubles) for _, prediction in pairs),
    }


def _figures(
    pairs: Sequence[tuple[Row, Prediction]], told: Sequence[str], gold: Sequence[str], labels: LabelSet, seed: int
) -> dict[str, Any]:
    right = [is_right(row, prediction, labels) for row, prediction in pairs]
    found = {
        "n": len(pairs),
        "failed": sum(prediction.label is None for _, prediction in pairs),
        "accuracy": sum(right) / len(pairs),
        "macro_f1": macro_f1(told, gold),
        "auc": _auc(pairs),
        "intervals": {
            "accuracy": accuracy_interval(right, seed),
            "macro_f1": macro_f1_interval(told, gold, seed),
        },
    }
    retrieval = page_recall([row for row, _ in pairs], [prediction for _, prediction in pairs])
    return found | {"retrieval": retrieval} if retrieval else found


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


def _said_of(label: Gold, pairs: Sequence[tuple[Row, Prediction]]) -> dict[str, int]:
    """How often what was said of the rows labelled so, as it was said: HoVer's "not supported" folds nothing here."""
    said = Counter(
        prediction.label.value if prediction.label else FAILED for row, prediction in pairs if row.label == label
    )
    return dict(sorted(said.items()))


def _of_class(label: str, told: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    return {
        "n": gold.count(label),
        "precision": precision_of(label, told, gold),
        "recall": recall_of(label, told, gold),
        "f1": f1_of(label, told, gold),
    }
