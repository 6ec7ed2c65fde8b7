"""Bootstrap intervals of 95%: by how much a figure moves when other rows of the same kind had been drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import bootstrap

RESAMPLES = 1000
Interval = tuple[float, float]


def accuracy_interval(right: Sequence[bool], seed: int) -> Interval | None:
    """Of the share that is right; None for fewer than two rows."""
    return _interval(np.mean, (np.asarray(right, dtype=float),), seed)


def macro_f1_interval(predicted: Sequence[str], gold: Sequence[str], seed: int) -> Interval | None:
    """Of `metrics.macro_f1`, rows drawn with both their labels; None for fewer than two rows."""
    classes = sorted(set(gold))
    codes = {label: code for code, label in enumerate(classes)}
    told = np.array([codes.get(label, len(classes)) for label in predicted])
    true = np.array([codes[label] for label in gold])
    return _interval(lambda p, g: _macro_f1(p, g, len(classes)), (told, true), seed)


def _macro_f1(told: np.ndarray, true: np.ndarray, classes: int) -> float:
    """As `metrics.macro_f1` over codes; `classes` stands for what belongs to no class."""
    hits = np.bincount(true[told == true], minlength=classes + 1)[:classes]
    there = np.bincount(true, minlength=classes + 1)[:classes]
    named = there + np.bincount(told, minlength=classes + 1)[:classes]
    return float(np.mean(2 * hits[there > 0] / named[there > 0]))


def _interval(statistic: Callable[..., float], columns: tuple[np.ndarray, ...], seed: int) -> Interval | None:
    if len(columns[0]) < 2:
        return None
    found = bootstrap(
        columns,
        statistic,
        paired=len(columns) > 1,
        vectorized=False,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return round(float(found.low), 4), round(float(found.high), 4)
