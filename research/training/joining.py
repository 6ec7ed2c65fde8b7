"""Fit the joined decision (judging/calibrated.py): the signals on pairs that trained the judge, their weight
against the judge on pairs that it never saw.

The judge is flattered by the pairs that trained it, the signals are not: six counts have nothing to remember. So the
many training pairs fit how the signals weigh among themselves, and the few held-out pairs only three numbers each.
For supported against not, that is learned from the sets whose claims were written from whole pages; claims made to
share the words of their evidence (Fool-Me-Twice, FEVER symmetric) or to lack them (our own) would teach the contrary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax

from app.backends.local.judge import CLASSES
from app.modules.judging.calibrated import BIAS, JUDGE, SIGNALS, Joint, joined, log_odds, signals
from research.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, REFUTED, SUPPORTED, Pair

PENALTY = 3.0
"""On the squares of the standardised weights, against rows that weigh 1 on average: keeps small sets from inventing."""

FROM_PAGES, MADE = ("hover", "feverous"), ("-lacking", "-swapped")

Rows = np.ndarray
"""[n, 6], one row of signals a pair."""
Target = Callable[[Sequence[Pair]], tuple[list[int], np.ndarray]]
"""The places of the pairs that a decision is about, and whether it holds for each."""


def signals_of(pairs: Sequence[Pair]) -> Rows:
    """[n, 6] signals of the pairs, in their order."""
    return np.array([signals(pair.claim, pair.passages) for pair in pairs], dtype=float).reshape(-1, len(SIGNALS))


class Joining:
    """The signals' own weights, from pairs that may have trained the judge; `fit` weighs them against the judge."""

    def __init__(self, seen: Sequence[Pair]) -> None:
        written = [pair for pair in seen if pair.source.startswith(FROM_PAGES) and not pair.source.endswith(MADE)]
        self._own = [_own_weights(written, _supported), _own_weights(seen, _refuted)]

    def fit(self, pairs: Sequence[Pair], raw: np.ndarray, found: Rows) -> Joint:
        """The joint decision from pairs that the judge never saw, its [n, 3] probabilities and their signals."""
        odds = (
            np.array([log_odds(row[0], row[1] + row[2]) for row in raw]),
            np.array([log_odds(row[1], row[2]) for row in raw]),
        )
        decisions = []
        for own, judged, target_of in zip(self._own, odds, (_supported, _refuted), strict=True):
            at, target = target_of(pairs)
            columns = np.column_stack([judged, found @ own])[at]
            bias, of_judge, of_signals = logistic(columns, target, _even([pairs[i] for i in at]))
            decisions.append({BIAS: bias, JUDGE: of_judge} | dict(zip(SIGNALS, own * of_signals, strict=True)))
        supported, refuted = ({name: round(float(value), 4) for name, value in one.items()} for one in decisions)
        joint = Joint(supported, refuted)
        return replace(joint, temperature=_temperature(pairs, joined_rows(joint, raw, found)))


def _temperature(pairs: Sequence[Pair], rows: np.ndarray) -> float:
    """The temperature under which the labels of the pairs of all three classes are likeliest; 1 without such pairs."""
    clear = [at for at, pair in enumerate(pairs) if pair.label in CLASSES]
    if not clear:
        return 1.0
    gold = [CLASSES.index(pairs[at].label) for at in clear]
    logs = np.log(rows[clear])

    def unlikelihood(temperature: float) -> float:
        return -float(log_softmax(logs / temperature, axis=1)[np.arange(len(gold)), gold].mean())

    return round(float(minimize_scalar(unlikelihood, bounds=(0.3, 3), method="bounded").x), 3)


def joined_rows(joint: Joint, raw: np.ndarray, found: Rows) -> np.ndarray:
    """[n, 3] joined probabilities."""
    return np.array([joined(joint, row, signals) for row, signals in zip(raw, found, strict=True)])


def _supported(pairs: Sequence[Pair]) -> tuple[list[int], np.ndarray]:
    """All pairs, and whether each is supported."""
    return list(range(len(pairs))), np.array([pair.label == SUPPORTED for pair in pairs], dtype=float)


def _refuted(pairs: Sequence[Pair]) -> tuple[list[int], np.ndarray]:
    """The places of the pairs that are refuted or not enough, and whether each is refuted."""
    at = [i for i, pair in enumerate(pairs) if pair.label in (REFUTED, NOT_ENOUGH)]
    return at, np.array([pairs[i].label == REFUTED for i in at], dtype=float)


def _own_weights(pairs: Sequence[Pair], target_of: Target) -> np.ndarray:
    """[6] weights of the signals alone."""
    at, target = target_of(pairs)
    return np.array(logistic(signals_of(pairs)[at], target, _even([pairs[i] for i in at]))[1:])


def _even(pairs: Sequence[Pair]) -> np.ndarray:
    """[n] weights by which every data set counts as much as every other, 1 on average."""
    sizes = Counter(_set_of(pair) for pair in pairs)
    return np.array([len(pairs) / len(sizes) / sizes[_set_of(pair)] for pair in pairs])


def _set_of(pair: Pair) -> str:
    return pair.source.split("-")[0] + ("" if pair.label != NOT_SUPPORTED else " not supported")


def logistic(columns: np.ndarray, target: np.ndarray, weights: np.ndarray) -> list[float]:
    """The bias and the weight of each column [n, k] in a weighted, ridge-penalised logistic regression of `target`.

    All are 0 where there are no rows.
    """
    if not len(target):
        return [0.0] * (columns.shape[1] + 1)
    centre, scale = columns.mean(axis=0), columns.std(axis=0) + 1e-9
    scaled = np.column_stack([np.ones(len(columns)), (columns - centre) / scale])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        total = scaled @ w
        value = float((weights * (np.logaddexp(0, total) - target * total)).sum() + PENALTY / 2 * (w[1:] ** 2).sum())
        return value, scaled.T @ (weights * (expit(total) - target)) + PENALTY * np.concatenate([[0.0], w[1:]])

    fitted = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    plain = fitted[1:] / scale
    return [float(fitted[0] - plain @ centre), *plain.tolist()]
