"""Measure and calibrate a trained judge on held-out examples, in the form used at inference (merged, float32).

Writes metrics.json and calibration.json beside the weights. One temperature is fitted (Guo et al., ICML 2017). The
bounds `sufficient` and `supported` are set on whole runs (research/claims/calibrate.py), so they stay as they are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from app.backends.local.judge import CLASSES, MAX_TOKENS, Calibration, EntailmentJudge, pack_batch
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from research.evaluation.metrics import auc, expected_calibration_error
from research.training.checkpoints import replacing
from research.training.judge_examples import Example
from research.training.pairs import NOT_ENOUGH, SUPPORTED

BATCH_SIZE = 16
TEMPERATURES = (0.05, 20.0)


def calibrate(base: Path, adapter: Path, held_out: Sequence[Example], threads: int = 2) -> dict[str, Any]:
    """Fit the temperature and write both files; return the metrics.

    Raises OSError with the files as before; a missing calibration.json then has the defaults.
    """
    file = adapter / "calibration.json"
    if not file.is_file():  # the judge does not load without one
        _write(file, asdict(Calibration()))
    before = Calibration.read(adapter)
    logits = logits_of(EntailmentJudge(base, adapter, threads), [one.prompt for one in held_out])
    fitted = replace(before, temperature=fit_temperature(logits, [one.label for one in held_out]))
    rows = softmax(logits / fitted.temperature, axis=1)
    metrics = asdict(fitted) | {"all": figures(rows, held_out), "by_source": by_source(rows, held_out)}
    with replacing(adapter) as fresh:
        _write(fresh / "calibration.json", asdict(fitted))
        _write(fresh / "metrics.json", metrics)
    return metrics


def logits_of(judge: EntailmentJudge, prompts: Sequence[str]) -> np.ndarray:
    """Return the judge's logits [n, 3], not divided by the temperature."""
    tokenizer, model, _ = judge.load()
    order = sorted(range(len(prompts)), key=lambda at: len(prompts[at]))
    found = np.zeros((len(prompts), len(CLASSES)))
    for start in range(0, len(order), BATCH_SIZE):
        part = order[start : start + BATCH_SIZE]
        texts = tokenizer([prompts[at] for at in part], truncation=True, max_length=MAX_TOKENS)["input_ids"]
        ends = torch.tensor([len(text) for text in texts]).cumsum(0) - 1
        with torch.inference_mode():
            found[part] = model.score(model.model(**pack_batch(texts)).last_hidden_state[0, ends]).float().numpy()
    return found


def fit_temperature(logits: np.ndarray, labels: Sequence[str]) -> float:
    """Return the temperature with the lowest negative log-likelihood, 1 without rows.

    The likelihood of NOT_SUPPORTED is 1 - p(SUPPORTED).
    """
    if not labels:
        return 1.0
    classes = np.array([CLASSES.index(label) if label in CLASSES else -1 for label in labels])

    def loss(log_temperature: float) -> float:
        rows = softmax(logits / math.exp(log_temperature), axis=1)
        likely = np.where(classes >= 0, rows[np.arange(len(rows)), classes], 1 - rows[:, 0])
        return float(-np.log(np.clip(likely, 1e-12, 1)).mean())

    bounds = tuple(map(math.log, TEMPERATURES))
    return round(math.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x), 3)


def by_source(rows: Sequence[Sequence[float]] | np.ndarray, examples: Sequence[Example]) -> dict[str, dict[str, Any]]:
    """Return `figures` for each source of the examples."""
    table, found = np.asarray(rows), {}
    for source in sorted({one.source for one in examples}):
        at = [place for place, one in enumerate(examples) if one.source == source]
        found[source] = figures(table[at], [examples[place] for place in at])
    return found


def figures(rows: np.ndarray, examples: Sequence[Example]) -> dict[str, Any]:
    """Return the metrics of some examples; None for a metric that is undefined for them.

    Three-way accuracy and calibration error exclude NOT_SUPPORTED. AUC separates supported claims from refuted and not
    supported ones; `false_supported` is the share of the latter with the label SUPPORTED.
    """
    labels = [one.label for one in examples]
    predicted = [CLASSES[place] for place in rows.argmax(axis=1)]
    three_way = [at for at, label in enumerate(labels) if label in CLASSES]
    correct = [predicted[at] == labels[at] for at in three_way]
    decided = [at for at, label in enumerate(labels) if label != NOT_ENOUGH]
    supported = [labels[at] == SUPPORTED for at in decided]
    false_supported = [predicted[at] == SUPPORTED for at in decided if labels[at] != SUPPORTED]
    error = expected_calibration_error(rows[three_way].max(axis=1), correct) if three_way else None
    return {
        "n": len(examples),
        "three_way": _rounded(_share(correct)),
        "auc": _rounded(auc(rows[decided, 0].tolist(), supported) if len(set(supported)) == 2 else None),
        "false_supported": _rounded(_share(false_supported)),
        "calibration_error": _rounded(error),
    }


def _share(held: Sequence[bool]) -> float | None:
    return sum(held) / len(held) if held else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _write(file: Path, value: dict[str, Any]) -> None:
    file.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
