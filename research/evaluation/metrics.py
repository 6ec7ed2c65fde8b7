"""Metrics over plain sequences of labels and scores, and bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.stats import bootstrap, rankdata


def auc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Return the area under the ROC curve; ties count half. Raises ValueError when one of the classes is empty."""
    truth = np.asarray(positive, dtype=bool)
    n, m = int(truth.sum()), int((~truth).sum())
    if not n or not m:
        raise ValueError("an area under the curve needs rows of both classes")
    ranks = rankdata(np.asarray(scores, dtype=float))
    return float((ranks[truth].sum() - n * (n + 1) / 2) / (n * m))


def class_f1(label: str, predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Return the F1 of one class; 0 if it occurs neither in `predicted` nor in `gold`."""
    pairs = list(zip(predicted, gold, strict=True))
    hits = sum(p == g == label for p, g in pairs)
    total = sum(p == label for p, _ in pairs) + sum(g == label for _, g in pairs)
    return 2 * hits / total if total else 0.0


def class_precision(label: str, predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Return the precision of one class; 0 if it was never predicted."""
    found = [g for p, g in zip(predicted, gold, strict=True) if p == label]
    return found.count(label) / len(found) if found else 0.0


def class_recall(label: str, predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Return the recall of one class; 0 if it does not occur in `gold`."""
    return class_precision(label, gold, predicted)


def macro_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Return the unweighted mean F1 of the classes that occur in `gold`."""
    labels = sorted(set(gold))
    return sum(class_f1(label, predicted, gold) for label in labels) / len(labels) if labels else 0.0


def expected_calibration_error(confidence: Sequence[float], right: Sequence[bool], bins: int = 15) -> float:
    """Return the mean gap between confidence and accuracy in equal-width bins of confidence, weighted by bin size."""
    stated, hit = np.asarray(confidence, dtype=float), np.asarray(right, dtype=float)
    bin_of = np.minimum((stated * bins).astype(int), bins - 1)
    gaps = [
        abs(stated[bin_of == b].mean() - hit[bin_of == b].mean()) * (bin_of == b).sum() for b in set(bin_of.tolist())
    ]
    return float(sum(gaps) / len(stated)) if len(stated) else 0.0


def risk_coverage_curve(
    confidence: Sequence[float], right: Sequence[bool], steps: int = 10
) -> list[tuple[float, float]]:
    """Return (coverage, risk) at `steps` even coverages up to 1 (El-Yaniv and Wiener, JMLR 2010, section 2).

    Risk is the share of errors among the most confident predictions; ties keep their order.
    """
    order = np.argsort(-np.asarray(confidence, dtype=float), kind="stable")
    wrong = 1 - np.asarray(right, dtype=float)[order]
    cuts = [(step / steps, max(1, round(len(order) * step / steps))) for step in range(1, steps + 1)]
    return [(coverage, float(wrong[:count].mean())) for coverage, count in cuts] if len(order) else []


RESAMPLES = 1000
Interval = tuple[float, float]
"""A 95% percentile bootstrap interval over the rows."""


def accuracy_interval(right: Sequence[bool], seed: int) -> Interval | None:
    """Return the interval of the accuracy; None for fewer than two rows."""
    return _interval(np.mean, (np.asarray(right, dtype=float),), seed)


def macro_f1_interval(predicted: Sequence[str], gold: Sequence[str], seed: int) -> Interval | None:
    """Return the interval of `macro_f1`; None for fewer than two rows."""
    classes = sorted(set(gold))
    codes = {label: code for code, label in enumerate(classes)}
    predicted_codes = np.array([codes.get(label, len(classes)) for label in predicted])
    gold_codes = np.array([codes[label] for label in gold])
    return _interval(partial(_macro_f1_of_codes, classes=len(classes)), (predicted_codes, gold_codes), seed)


def _macro_f1_of_codes(predicted: np.ndarray, gold: np.ndarray, classes: int, axis: int = -1) -> np.ndarray:
    """Return `macro_f1` of class codes along the axis; the code `classes` means no class."""
    each_class = np.arange(classes).reshape(-1, *[1] * gold.ndim)
    predicted, gold = predicted == each_class, gold == each_class
    hits, occurring = (predicted & gold).sum(axis), gold.sum(axis)
    f1 = 2 * hits / np.maximum(occurring + predicted.sum(axis), 1)
    return np.mean(f1, axis=0, where=occurring > 0)


def _interval(statistic: Callable[..., np.ndarray], columns: tuple[np.ndarray, ...], seed: int) -> Interval | None:
    if len(columns[0]) < 2:
        return None
    found = bootstrap(
        columns,
        statistic,
        paired=len(columns) > 1,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return round(float(found.low), 4), round(float(found.high), 4)
