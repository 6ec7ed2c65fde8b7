"""Select rows, predict a label for each, and describe the environment; report.py computes the figures."""

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
from research.evaluation.predictions import (
    NOTHING_SPENT,
    EvidencePair,
    Prediction,
    Predictions,
    ResourceUse,
    total_use,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RowResult:
    """A predictor's label for a row, or None and a `problem`; the fields are those of `Prediction`."""

    label: Label | None
    confidence: float | None = None
    supported: float | None = None
    problem: str | None = None
    evidence: tuple[EvidencePair, ...] = ()
    pages: tuple[str, ...] | None = None
    troubles: tuple[str, ...] = ()
    spent: ResourceUse = NOTHING_SPENT
    rationale: str = ""


RowPredictor = Callable[[Row], RowResult]
"""Thread-safe function that labels a row without reading the row's own label. May raise CallFailed."""


def select_rows(
    rows: Sequence[Row],
    labels: LabelSet,
    seed: int,
    limit: int | None,
    gold: bool = True,
    all_rows: bool = False,
    per_hops: int | None = None,
) -> tuple[list[Row], dict[str, int]]:
    """Return the rows to measure and the number of omitted rows by reason.

    Rows for which none of `labels` is right are omitted unless `all_rows`, and with `gold` those without evidence. The
    others are shuffled by `seed` and cut to the first `per_hops` of each number of hops, then to the first `limit`, so
    that a larger limit keeps the rows of a smaller one.
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
        kept = [row for row, position in zip(kept, _positions_by_hops(kept), strict=True) if position < per_hops]
    return kept[:limit], dict(left_out)


def _positions_by_hops(rows: Sequence[Row]) -> Iterator[int]:
    """Yield the position of each row among those with its number of hops."""
    before: Counter[int | None] = Counter()
    for row in rows:
        yield before[row.hops]
        before[row.hops] += 1


def predict(
    rows: Sequence[Row], predictor: RowPredictor, predictions: Predictions, workers: int = 1
) -> Iterator[Prediction]:
    """Yield the predictions in the order of `rows`, stored as soon as they are made by `workers` threads.

    Stored predictions are reused, failed ones repeated. A failed call gives a failed prediction; ModelUnavailable is
    raised, since every row would fail. In whole runs it fails the row instead: the strategies catch it. When the caller
    stops early, running rows are finished and no others started.
    """
    broken: list[BaseException] = []

    def stored_or_new(row: Row) -> Prediction:
        if broken:
            raise CancelledError
        found = predictions.made.get(row.id)
        if found is not None and found.label is not None:
            return found
        try:
            found = _predict_row(row, predictor)
            predictions.add(found)
        except BaseException as error:
            broken.append(error)
            raise
        return found

    with ThreadPoolExecutor(workers, thread_name_prefix="evaluate") as pool:
        futures = [pool.submit(stored_or_new, row) for row in rows]
        try:
            for each in futures:
                yield each.result()
        except CancelledError:
            raise broken[0] from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _predict_row(row: Row, predictor: RowPredictor) -> Prediction:
    began = time.monotonic()
    try:
        result = predictor(row)
    except ModelUnavailable:
        raise
    except CallFailed as error:
        result = RowResult(None, problem=str(error))
    except HopcheckError:
        raise
    except Exception as error:  # one row must not end a long evaluation
        log.exception("Row %s failed unexpectedly", row.id)
        result = RowResult(None, problem=f"It broke off unexpectedly ({type(error).__name__}).")
    spent = replace(result.spent, seconds=round(time.monotonic() - began, 3))
    return Prediction(
        row.id,
        row.label.value,
        result.label,
        result.confidence,
        result.supported,
        result.problem,
        result.evidence,
        result.pages,
        result.troubles,
        spent,
        result.rationale,
    )


def is_right(row: Row, prediction: Prediction, labels: LabelSet) -> bool:
    """Return whether the predicted label is a right one for the row; a failed prediction is wrong."""
    return prediction.label in MATCHES[row.label][labels]


PACKAGES = ("torch", "transformers", "xllamacpp", "onnxruntime", "pyserini", "nltk", "scipy", "numpy")
"""Packages whose versions may change a figure."""
ROOT = Path(__file__).resolve().parent.parent.parent


def manifest(about: dict[str, Any], predictions: Iterable[Prediction], workers: int) -> dict[str, Any]:
    """Return `about` with code version, packages, hardware, date, and the cost of all predictions.

    `row_seconds` is the mean over the rows; with several `workers` it includes the time that rows wait for each other.
    """
    spent = [each.spent for each in predictions]
    total = total_use(spent)
    return {
        **about,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": code_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "hardware": hardware(),
        "workers": workers,
        "spent": asdict(replace(total, seconds=round(total.seconds, 1))),
        "row_seconds": round(total.seconds / len(spent), 3) if spent else 0.0,
    }


def code_version() -> str:
    """Return the commit, with "-dirty" for uncommitted changes; "unknown" outside of a git checkout."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def hardware() -> dict[str, Any]:
    """Return processor, cores, memory, operating system and Python version."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


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
