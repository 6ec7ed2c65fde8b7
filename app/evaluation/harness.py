"""Measuring: rows in, a prediction for each out; figures.py has the figures over all of them."""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, replace

from app.domain.errors import CallFailed, HopcheckError, ModelUnavailable
from app.domain.model import Label, LabelSet
from app.evaluation.datasets import Row
from app.evaluation.labels import MATCHES
from app.evaluation.predictions import NOTHING_SPENT, Piece, Prediction, Predictions, Spent

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
    )


def is_right(row: Row, prediction: Prediction, labels: LabelSet) -> bool:
    """Whether the prediction is one of those that match the row's label; one that failed is not."""
    return prediction.label in MATCHES[row.label][labels]
