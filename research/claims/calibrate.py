"""Fit the judge's temperature and bounds on stored runs, whose evidence is retrieved instead of gold.

python -m research.claims.calibrate FOLDER_OF_RUNS... --hard FOLDER_OF_RUNS --write

The kept hops of each run are judged again, as at the end of a run, but without the reasoner's rule for unmentioned
names. The temperature minimises the negative log-likelihood of the labels; the bound is the lowest one with PRECISION
of at least MIN_DECIDED verdicts right. SUPPORTED has its own, no lower one: the lowest with which at most
FALSE_SUPPORTED of the false claims among the hard runs come out SUPPORTED. Without folders only that one is fitted.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from app.backends.local.judge import CLASSES, Calibration
from scipy.special import softmax

from app.config.settings import Settings
from app.container.container import SHIPPED, Container
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Passage, Question, Span
from app.modules.judging import LABEL_ORDER, EvidenceJudge
from research.claims.run import RUNS_FILE, read_runs
from research.training.calibration import fit_temperature

PRECISION = 0.9
FALSE_SUPPORTED = 0.04
MIN_DECIDED = 10
"""Minimum number of verdicts above a threshold."""


def kept_context(run: dict[str, Any]) -> Context:
    """Return the kept hops of a stored run."""
    hops = enumerate(run["trail"], 1)
    return tuple(_hop(number, hop) for number, hop in hops if hop["status"] == "kept")


def _hop(number: int, hop: dict[str, Any]) -> Hop:
    passages = tuple(Passage(one["text"], one["title"], "vital") for one in hop["passages"])
    cited = next(
        (one for one in passages if one.title == hop["cited_title"] and hop["cited_sentence"] in one.text), None
    )
    span = _answer_span(cited, hop["cited_sentence"], hop["answer"]) if cited else None
    return Hop(number, Question(hop["question"]), Answer(hop["answer"], span, passages), HopStatus.KEPT)


def _answer_span(passage: Passage, sentence: str, answer: str) -> Span:
    """Return the answer's first occurrence from the cited sentence on, else the whole sentence."""
    start = passage.text.index(sentence)
    place = passage.text.find(answer, start)
    return Span(passage, place, place + len(answer)) if place >= 0 else Span(passage, start, start + len(sentence))


def log_probabilities(judge: EvidenceJudge, runs: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return log-probabilities [n, 3] in the order of CLASSES."""
    rows = [judge.probabilities(Claim(run["claim"]), kept_context(run)) for run in runs]
    return np.log(np.clip([[row[label] for label in LABEL_ORDER] for row in rows], 1e-9, 1))


def threshold_for(rows: np.ndarray, labels: Sequence[str], precision: float = PRECISION) -> float:
    """Return the lowest threshold with at least `precision` of the verdicts right, else 0.99. `rows` is [n, 3]."""
    decided = [(row, label) for row, label in zip(rows, labels, strict=True) if row.argmax() < 2]
    verdicts = sorted(((max(row), CLASSES[row.argmax()] == label) for row, label in decided), reverse=True)
    thresholds = [
        threshold
        for place, (threshold, _) in enumerate(verdicts, 1)
        if place >= MIN_DECIDED and sum(right for _, right in verdicts[:place]) / place >= precision
    ]
    return math.floor(thresholds[-1] * 100) / 100 if thresholds else 0.99


def supported_threshold(rows: np.ndarray, labels: Sequence[str], at_least: float) -> float:
    """Return the lowest threshold with at most FALSE_SUPPORTED of the REFUTED claims at or above it. `rows` is [n, 3].

    It is no lower than `at_least`.
    """
    false = sorted((row[0] for row, label in zip(rows, labels, strict=True) if label == CLASSES[1]), reverse=True)
    allowed = math.floor(FALSE_SUPPORTED * len(false))
    return max(at_least, math.floor(false[allowed] * 100 + 1) / 100) if allowed < len(false) else at_least


def judged_runs(judge: EvidenceJudge, folders: Sequence[Path]) -> tuple[list[str], np.ndarray]:
    """Return the labels and log-probabilities of the folders' runs that kept a hop."""
    stored = [run for folder in folders for run in read_runs(folder / RUNS_FILE).values()]
    runs = [run for run in stored if kept_context(run)]
    return [run["label"] for run in runs], log_probabilities(judge, runs)


def print_verdicts(labels: Sequence[str], rows: np.ndarray, fitted: Calibration) -> None:
    """Print how many verdicts the calibration gives and how many are right, by the judge's probabilities alone."""
    chosen = [fitted.bounds.label(dict(zip(LABEL_ORDER, row, strict=True))) for row in rows]
    right = sum(one == label for one, label in zip(chosen, labels, strict=True))
    print(f"{len(rows)} runs with evidence, {asdict(fitted)}: {right} of {sum(map(bool, chosen))} verdicts right")


def main() -> None:
    """Print the fitted values; with --write, store them in calibration.json of the shipped judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--hard", nargs="+", type=Path, default=[], help="runs of hard claims, for SUPPORTED's bound")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    judge, fitted = Container(Settings.from_env({})).evidence_judge(), Calibration.read(SHIPPED / "judge")
    shipped = fitted.temperature
    if options.folders:
        labels, scores = judged_runs(judge, options.folders)
        raw = scores * shipped
        temperature = fit_temperature(raw, labels)
        rows = softmax(raw / temperature, axis=1)
        fitted = replace(fitted, temperature=temperature, sufficient=threshold_for(rows, labels))
        print_verdicts(labels, rows, fitted)
    if options.hard:
        labels, scores = judged_runs(judge, options.hard)
        rows = softmax(scores * shipped / fitted.temperature, axis=1)
        fitted = replace(fitted, supported=supported_threshold(rows, labels, fitted.sufficient))
        print_verdicts(labels, rows, fitted)
    if options.write:
        (SHIPPED / "judge" / "calibration.json").write_text(json.dumps(asdict(fitted), indent=2) + "\n")


if __name__ == "__main__":
    main()
