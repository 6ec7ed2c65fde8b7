"""What came of a batch, claim by claim, as CSV for tables and JSON Lines for programs; written as it is read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from app.runs.batches import BatchClaim

COLUMNS = ("number", "claim", "speaker", "date", "label", "confidence", "state", "problem", "permalink")

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A program for tables takes text that begins so for a formula, and carries it out."""

Address = Callable[[str], str]
"""Where the report of a run is read, by its id."""


def result(claim: BatchClaim, address: Address) -> dict[str, Any]:
    """The claim and what came of it, by COLUMNS; None where there is nothing."""
    return {
        "number": claim.number,
        "claim": claim.claim.text,
        "speaker": claim.claim.speaker,
        "date": claim.claim.date,
        "label": claim.label.value if claim.label else None,
        "confidence": claim.confidence,
        "state": claim.state,
        "problem": claim.problem or None,
        "permalink": address(claim.run_id) if claim.run_id else None,
    }


def as_jsonl(claims: Iterable[BatchClaim], address: Address) -> Iterator[str]:
    """One JSON object a line."""
    for claim in claims:
        yield json.dumps(result(claim, address), ensure_ascii=False) + "\n"


def as_csv(claims: Iterable[BatchClaim], address: Address) -> Iterator[str]:
    """A header and one record a claim (RFC 4180). What looks like a formula gets an apostrophe before it."""
    yield _record(COLUMNS)
    for claim in claims:
        yield _record(map(_harmless, result(claim, address).values()))


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _record(values: Iterable[Any]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(values)
    return written.getvalue()
