"""How many of the gold pages a run looked at, whatever it made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from research.evaluation.datasets import Row
from research.evaluation.predictions import Prediction


def page_recall(rows: Sequence[Row], predictions: Sequence[Prediction]) -> dict[str, Any] | None:
    """`recall`, the mean share of a row's gold pages that were looked at, and `whole`, the share of rows with them all.

    Over the rows whose gold evidence has titles; a failed prediction that looked at nothing counts 0. None where no
    row has titles or where nothing was searched for.
    """
    pairs = [(found, prediction) for row, prediction in zip(rows, predictions, strict=True) if (found := _gold(row))]
    if not pairs or all(prediction.pages is None for _, prediction in pairs):
        return None
    shares = [len(gold & set(map(_page, prediction.pages or ()))) / len(gold) for gold, prediction in pairs]
    return {
        "n": len(shares),
        "recall": sum(shares) / len(shares),
        "whole": sum(share == 1 for share in shares) / len(shares),
    }


def pages_missed(row: Row, prediction: Prediction) -> tuple[str, ...]:
    """The titles of the gold pages that were not looked at; none where nothing was searched for."""
    if prediction.pages is None:
        return ()
    seen = set(map(_page, prediction.pages))
    return tuple(dict.fromkeys(title for title, _ in row.passages if title and _page(title) not in seen))


def _gold(row: Row) -> set[str]:
    return {_page(title) for title, _ in row.passages if title}


def _page(title: str) -> str:
    """A title however it is written: with underlines in the place of blanks, in other case."""
    return " ".join(title.replace("_", " ").split()).casefold()
