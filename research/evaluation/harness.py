"""Measuring: rows in, a prediction for each out; figures.py has the figures over all of them."""

from __future__ import annotations

import logging
import os
import platform
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from app.domain.errors import CallFailed, HopcheckError, ModelUnavailable
from app.domain.model import Label, LabelSet
from research.evaluation.datasets import Row
from research.evaluation.labels import MATCHES
from research.evaluation.predictions import NOTHING_SPENT, Piece, Prediction, Predictions, Spent

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Judged:
    """A label with its confidence, and the probability of SUPPORTED (None: not known).

    The rest is as in `Prediction`. Without a label `problem` says why there is none.
    """

    label: Label | None
    confidence: float | None = None
    supported: float | None = None
    problem: str | None = None
    evidence: tuple[Piece, ...] = ()
    pages: tuple[str, ...] | None = None
    troubles: tuple[str, ...] = ()
    spent: Spent = NOTHING_SPENT
    rationale: str = ""


Judge = Callable[[Row], Judged]
"""Says what it makes of a row without looking at its label. May raise CallFailed. Called by several threads at once."""


def chosen(
    rows: Sequence[Row],
    labels: LabelSet,
    seed: int,
    limit: int | None,
    gold: bool = True,
    all_rows: bool = False,
    per_hops: int | None = None,
) -> tuple[list[Row], dict[str, int]]:
    """The rows to measure, and how many were left out, by why: no label of `labels` is right, or nothing to judge by.

    `gold` says that a row's own evidence is what is judged by; with `all_rows` those stay that no label can be right
    for, and count as wrong.

    Shuffled by `seed`, then the first `per_hops` of each number of hops, of these the first `limit`: a larger limit has
    the rows of a smaller one, and more.
    """
    kept: list[Row] = []
    left_out: Counter[str] = Counter()
    for row in rows:
        if not MATCHES[row.label][labels] and not all_rows:
            left_out[row.label.value] += 1
        elif gold and not row.has_evidence:
            left_out["no gold evidence"] += 1
        else:
            kept.append(row)
    random.Random(seed).shuffle(kept)
    if per_hops is not None:
        kept = [row for row, place in zip(kept, _places(kept), strict=True) if place < per_hops]
    return kept[:limit], dict(left_out)


def _places(rows: Sequence[Row]) -> Iterator[int]:
    """For each row how many of its number of hops stand before it."""
    before: Counter[int | None] = Counter()
    for row in rows:
        yield before[row.hops]
        before[row.hops] += 1


def predict(rows: Sequence[Row], judge: Judge, predictions: Predictions, workers: int = 1) -> Iterator[Prediction]:
    """Each row's prediction, in their order, written down as soon as it is made, by so many threads.

    Those already made are taken as they are, those that failed are tried again. A failed call is a failed prediction;
    ModelUnavailable is raised, for every row would fail. Whoever stops listening waits for the rows at work only.
    """

    broken: list[BaseException] = []

    def made(row: Row) -> Prediction:
        if broken:
            raise CancelledError
        found = predictions.made.get(row.id)
        if found is not None and found.label is not None:
            return found
        try:
            found = _predicted(row, judge)
            predictions.add(found)
        except BaseException as error:
            broken.append(error)
            raise
        return found

    with ThreadPoolExecutor(workers, thread_name_prefix="evaluate") as pool:
        waiting = [pool.submit(made, row) for row in rows]
        try:
            for each in waiting:
                yield each.result()
        except CancelledError:
            raise broken[0] from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _predicted(row: Row, judge: Judge) -> Prediction:
    began = time.monotonic()
    try:
        said = judge(row)
    except ModelUnavailable:
        raise
    except CallFailed as error:
        said = Judged(None, problem=str(error))
    except HopcheckError:
        raise
    except Exception as error:  # one broken row must not take a night's work with it; it is counted as failed
        log.exception("row %s broke", row.id)
        said = Judged(None, problem=f"It broke off unexpectedly ({type(error).__name__}).")
    spent = replace(said.spent, seconds=round(time.monotonic() - began, 3))
    return Prediction(
        row.id,
        row.label.value,
        said.label,
        said.confidence,
        said.supported,
        said.problem,
        said.evidence,
        said.pages,
        said.troubles,
        spent,
        said.rationale,
    )


def is_right(row: Row, prediction: Prediction, labels: LabelSet) -> bool:
    """Whether the prediction is one of those that match the row's label; one that failed is not."""
    return prediction.label in MATCHES[row.label][labels]


# manifest.json: what an evaluation was made with, so that somebody else can make it again.

PACKAGES = ("torch", "transformers", "xllamacpp", "onnxruntime", "pyserini", "nltk", "scipy", "numpy")
"""Those whose versions may change a figure."""
ROOT = Path(__file__).resolve().parent.parent.parent


def manifest(about: dict[str, Any], predictions: Iterable[Prediction], workers: int) -> dict[str, Any]:
    """`about` with the code, the machine, the day, and what the predictions took, those of earlier starts included.

    `row_seconds` is the mean over the rows; with several `workers` rows wait for one another in it.
    """
    spent = [each.spent for each in predictions]
    return {
        **about,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": code_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "hardware": hardware(),
        "workers": workers,
        "spent": asdict(_sum(spent)),
        "row_seconds": round(sum(each.seconds for each in spent) / len(spent), 3) if spent else 0.0,
    }


def code_version() -> str:
    """The commit, with "-dirty" when files were changed after it; "unknown" outside of a git checkout."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def hardware() -> dict[str, Any]:
    """Processor, cores, memory, operating system and Python."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def _sum(spent: list[Spent]) -> Spent:
    costs = [each.cost for each in spent if each.cost is not None]
    return Spent(
        round(sum(each.seconds for each in spent), 1),
        sum(each.calls for each in spent),
        sum(each.prompt_tokens for each in spent),
        sum(each.completion_tokens for each in spent),
        sum(costs) if costs else None,
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
