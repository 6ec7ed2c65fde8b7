"""Fit the calibration of the local judge on stored runs over development claims.

python -m research.claims.calibrate FOLDER_OF_RUNS... [--write]

Each run has the two readings of its kept hops (research.claims.run). The weights of their log-probabilities and the
biases minimise the negative log-likelihood of the labels, with a penalty for leaving the mean of both, since a few
hundred runs determine them badly. Each bound is the lowest with which PRECISION of the verdicts of its side were right,
by probabilities that were fitted without the claim's group.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from app.container.container import SHIPPED
from app.domain.model import Label
from app.modules.local import LABELS, MIN_PROBABILITY
from research.claims.run import RUNS_FILE, read_runs

FILE = SHIPPED / "transcript" / "calibration.json"
PRECISION = 0.92
MIN_DECIDED = 8
"""Verdicts of a side that a bound must be based on."""
PENALTY = 2.0
START = np.array([0.5, 0.5, 0.0, 0.0])
"""The weights of both readings, and the biases of false and open against true."""
BOUNDS = [round(0.5 + 0.025 * step, 3) for step in range(19)]


def features(runs: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-probabilities [runs, readings, labels], and the place of each run's label."""
    read = np.array([run["readings"] for run in runs])
    return np.log(np.maximum(read, MIN_PROBABILITY)), np.array([LABELS.index(Label(run["label"])) for run in runs])


def probabilities(parameters: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return the calibrated probabilities [runs, labels]."""
    transcript, sources, false, open_ = parameters
    joint = transcript * logs[:, 0] + sources * logs[:, 1] + np.array([0.0, false, open_])
    powers = np.exp(joint - joint.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def fit(logs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the weights and biases."""

    def loss(parameters: np.ndarray) -> float:
        right = probabilities(parameters, logs)[np.arange(len(labels)), labels]
        return float(-np.log(right + 1e-9).sum() + PENALTY * ((parameters - START) ** 2).sum())

    limits = [(0.0, 2.0), (0.0, 2.0), (-2.0, 2.0), (-3.0, 3.0)]
    return np.asarray(minimize(loss, START, method="L-BFGS-B", bounds=limits).x)


def left_out(runs: Sequence[Mapping[str, Any]], logs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the probabilities of each run, fitted on those of other groups, at most that by the sources alone."""
    groups = [run["group"] for run in runs]
    found = np.zeros((len(runs), len(LABELS)))
    for group in sorted(set(groups)):
        inside = np.array([each == group for each in groups])
        found[inside] = probabilities(fit(logs[~inside], labels[~inside]), logs[inside])
    found[:, :2] = np.minimum(found[:, :2], np.exp(logs[:, 1, :2]))
    return found


def bound_of(side: int, found: np.ndarray, labels: np.ndarray) -> float:
    """Return the lowest bound of BOUNDS from which PRECISION of the verdicts of this side were right; 1 for none."""
    for bound in BOUNDS:
        decided = (found[:, :2].argmax(axis=1) == side) & (found[:, side] >= bound)
        if decided.sum() >= MIN_DECIDED and (labels[decided] == side).mean() >= PRECISION:
            return bound
    return 1.0


def calibration(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the content of calibration.json."""
    logs, labels = features(runs)
    transcript, sources, false, open_ = (round(float(each), 3) for each in fit(logs, labels))
    found = left_out(runs, logs, labels)
    return {
        "transcript": transcript,
        "sources": sources,
        "bias": [0.0, false, open_],
        "supported": bound_of(0, found, labels),
        "refuted": bound_of(1, found, labels),
    }


def main() -> None:
    """Fit on the runs of the folders, print the calibration, and write it with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of research.claims.run")
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name} beside the adapter")
    options = parser.parse_args()
    runs = [run for folder in options.runs for run in read_runs(folder / RUNS_FILE).values() if run["readings"]]
    found = calibration(runs)
    print(json.dumps(found))
    if options.write:
        FILE.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
