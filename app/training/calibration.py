"""After training: the judge measured on pairs it never saw, its temperature and its bound for "enough" fitted there.

Writes calibration.json (what inference reads) and metrics.json (what the model card quotes) beside the weights.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar

from app.backends.entailment import CLASSES, Calibration, EntailmentJudge
from app.evaluation.metrics import auc, expected_calibration_error, macro_f1
from app.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, Pair

BATCH = 16
MOST_PER_SOURCE = 50
"""Held-out pairs measured of each source, in their order: two cores take minutes over so many."""
PRECISION_WANTED = 0.85
"""A verdict should be right this often on held-out pairs; the bound is the lowest that gives it."""


def calibrate(base: Path, adapter: Path, pairs: Sequence[Pair]) -> dict:
    """Fit on the held-out pairs with one of the three classes, measure on all held-out pairs; the metrics."""
    (adapter / "calibration.json").write_text(json.dumps(asdict(Calibration())), encoding="utf-8")
    held = list(_sample([pair for pair in pairs if pair.held_out]))
    raw = probabilities(EntailmentJudge(base, adapter), held)
    clear = [at for at, pair in enumerate(held) if pair.label != NOT_SUPPORTED]
    gold = np.array([CLASSES.index(held[at].label) for at in clear])
    logs = np.log(np.clip(raw, 1e-9, 1.0))
    temperature = float(minimize_scalar(lambda t: _nll(logs[clear] / t, gold), bounds=(0.3, 5), method="bounded").x)
    scaled = _softmax(logs / temperature)
    fitted = Calibration(round(temperature, 3), _sufficient(scaled[clear], gold))
    (adapter / "calibration.json").write_text(json.dumps(asdict(fitted), indent=2) + "\n", encoding="utf-8")
    metrics = _metrics(held, scaled, fitted)
    (adapter / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", encoding="utf-8")
    return metrics


def _sample(held: Sequence[Pair]) -> Iterator[Pair]:
    seen: Counter[str] = Counter()
    for pair in held:
        seen[pair.source] += 1
        if seen[pair.source] <= MOST_PER_SOURCE:
            yield pair


def probabilities(judge: EntailmentJudge, pairs: Sequence[Pair]) -> np.ndarray:
    """[n, 3] probabilities of `pairs`, in their order, computed in batches of similar length."""
    order = sorted(range(len(pairs)), key=lambda at: sum(len(text) for _, text in pairs[at].passages))
    out = np.zeros((len(pairs), len(CLASSES)))
    for start in range(0, len(order), BATCH):
        group = order[start : start + BATCH]
        out[group] = judge.classify([(pairs[at].claim, pairs[at].passages) for at in group])
    return out


def _softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _nll(logits: np.ndarray, gold: np.ndarray) -> float:
    return float(-np.log(_softmax(logits)[np.arange(len(gold)), gold] + 1e-12).mean())


def _sufficient(scaled: np.ndarray, gold: np.ndarray) -> float:
    """The lowest bound on the larger decided probability above which decided verdicts are right often enough."""
    decided = scaled[:, :2].max(axis=1)
    right = scaled[:, :2].argmax(axis=1) == gold
    for bound in np.arange(0.4, 0.96, 0.01):
        above = decided >= bound
        if above.any() and right[above].mean() >= PRECISION_WANTED:
            return round(float(bound), 2)
    return 0.95


def _metrics(held: Sequence[Pair], scaled: np.ndarray, fitted: Calibration) -> dict:
    by_source: dict[str, dict] = {}
    for source in sorted({pair.source.removesuffix("-lacking") for pair in held}):
        rows = [at for at, pair in enumerate(held) if pair.source.removesuffix("-lacking") == source]
        by_source[source] = _of(rows, held, scaled)
    clear = [at for at, pair in enumerate(held) if pair.label != NOT_SUPPORTED]
    right = [CLASSES[scaled[at].argmax()] == held[at].label for at in clear]
    return {
        "held_out": len(held),
        "temperature": fitted.temperature,
        "sufficient": fitted.sufficient,
        "calibration_error": round(expected_calibration_error(scaled[clear].max(axis=1), right), 3),
        "by_source": by_source,
    }


def _of(rows: Sequence[int], held: Sequence[Pair], scaled: np.ndarray) -> dict:
    """Supported against not over the gold pairs (as in the issue's trials), and the three-way figures over all."""
    gold_only = [at for at in rows if held[at].label != NOT_ENOUGH]
    supported = [held[at].label == "SUPPORTED" for at in gold_only]
    clear = [at for at in rows if held[at].label != NOT_SUPPORTED]
    truth = [held[at].label for at in clear]
    predicted = [CLASSES[scaled[at].argmax()] for at in clear]
    return {
        "n": len(rows),
        "auc_supported": round(auc(scaled[gold_only, 0].tolist(), supported), 3) if len(set(supported)) == 2 else None,
        "accuracy": round(sum(p == t for p, t in zip(predicted, truth, strict=True)) / max(len(truth), 1), 3),
        "macro_f1": round(macro_f1(predicted, truth), 3),
    }
