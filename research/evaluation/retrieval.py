"""Recall of gold pages among the pages that a run retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from research.evaluation.datasets import Row
from research.evaluation.predictions import Prediction


def page_recall(rows: Sequence[Row], predictions: Sequence[Prediction]) -> dict[str, Any] | None:
    """Return `recall`, the mean share of retrieved gold pages, and `whole`, the share of rows with all of them.

    Both are over the `n` rows whose gold evidence has titles; failed predictions without pages count 0. Returns None
    if no row has titles, or without retrieval.
    """
    pairs = [
        (found, prediction) for row, prediction in zip(rows, predictions, strict=True) if (found := _gold_titles(row))
    ]
    if not pairs or all(prediction.pages is None for _, prediction in pairs):
        return None
    shares = [len(gold & set(map(_normalise_title, prediction.pages or ()))) / len(gold) for gold, prediction in pairs]
    return {
        "n": len(shares),
        "recall": sum(shares) / len(shares),
        "whole": sum(share == 1 for share in shares) / len(shares),
    }


def pages_missed(row: Row, prediction: Prediction) -> tuple[str, ...]:
    """Return the titles of the gold pages that were not retrieved; none without retrieval."""
    if prediction.pages is None:
        return ()
    seen = set(map(_normalise_title, prediction.pages))
    return tuple(dict.fromkeys(title for title, _ in row.passages if title and _normalise_title(title) not in seen))


def _gold_titles(row: Row) -> set[str]:
    return {_normalise_title(title) for title, _ in row.passages if title}


def _normalise_title(title: str) -> str:
    """Return the title with spaces for underscores and in folded case, as data sets differ in both."""
    return " ".join(title.replace("_", " ").split()).casefold()
