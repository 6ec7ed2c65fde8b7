"""Metrics over predictions; every one works on plain sequences, so that it can be checked by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import bootstrap, rankdata


def auc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Area under the ROC curve: the chance that a positive row scores above another, ties counting half.

    Raises ValueError when one of the two classes is empty.
    """
    truth = np.asarray(positive, dtype=bool)
    n, m = int(truth.sum()), int((~truth).sum())
    if not n or not m:
        raise ValueError("an area under the curve needs rows of both classes")
    ranks = rankdata(np.asarray(scores, dtype=float))
    return float((ranks[truth].sum() - n * (n + 1) / 2) / (n * m))


def f1_of(label: str, predicted: Sequence[str], gold: Sequence[str]) -> float:
    """The F1 of one class; 0 when it was neither predicted nor there."""
    pairs = list(zip(predicted, gold, strict=True))
    hit = sum(p == g == label for p, g in pairs)
    named = sum(p == label for p, _ in pairs) + sum(g == label for _, g in pairs)
    return 2 * hit / named if named else 0.0


def precision_of(label: str, predicted: Sequence[str], gold: Sequence[str]) -> float:
    """How many of those predicted as `label` are; 0 when none was."""
    named = [g for p, g in zip(predicted, gold, strict=True) if p == label]
    return named.count(label) / len(named) if named else 0.0


def recall_of(label: str, predicted: Sequence[str], gold: Sequence[str]) -> float:
    """How many of those that are `label` were predicted so; 0 when there is none."""
    return precision_of(label, gold, predicted)


def macro_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """The unweighted mean of the F1 of every class that occurs in `gold`."""
    labels = sorted(set(gold))
    return sum(f1_of(label, predicted, gold) for label in labels) / len(labels) if labels else 0.0


def expected_calibration_error(confidence: Sequence[float], right: Sequence[bool], bins: int = 15) -> float:
    """The mean distance between confidence and accuracy over equal-width bins of confidence, weighted by their rows."""
    sure, hit = np.asarray(confidence, dtype=float), np.asarray(right, dtype=float)
    place = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs(sure[place == b].mean() - hit[place == b].mean()) * (place == b).sum() for b in set(place.tolist())]
    return float(sum(gaps) / len(sure)) if len(sure) else 0.0


def risk_against_coverage(
    confidence: Sequence[float], right: Sequence[bool], steps: int = 10
) -> list[tuple[float, float]]:
    """(coverage, risk) at `steps` even coverages up to 1: the share of errors among the surest so many (El-Yaniv and
    Wiener, JMLR 2010, section 2). Ties are taken in their order."""
    order = np.argsort(-np.asarray(confidence, dtype=float), kind="stable")
    wrong = 1 - np.asarray(right, dtype=float)[order]
    cuts = [(step / steps, max(1, round(len(order) * step / steps))) for step in range(1, steps + 1)]
    return [(coverage, float(wrong[:count].mean())) for coverage, count in cuts] if len(order) else []


# Bootstrap intervals of 95%: by how much a figure moves when other rows of the same kind had been drawn.

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
