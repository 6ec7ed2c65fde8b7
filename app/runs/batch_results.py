"""What came of a batch, claim by claim, as CSV for tables and JSON Lines for programs; written as it is read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import Field

from app.domain.model import Label
from app.runs.batches import BatchClaim
from app.runs.json_schema import as_json

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A program for tables takes text that begins so for a formula, and carries it out."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A claim of a batch and its result; what there is none of is None."""

    number: Annotated[int, Field(ge=0)]
    claim: str
    speaker: str | None
    date: str | None
    """A day, like 2020-10-31."""
    label: Label | None
    confidence: Annotated[float, Field(ge=0, le=1)] | None
    state: str
    """That of its run, or waiting, deleted or bad input."""
    problem: str | None
    """Why there is no verdict."""
    permalink: str | None
    """Where its report is read."""


COLUMNS = tuple(each.name for each in fields(BatchResult))

Address = Callable[[str], str]
"""Where the report of a run is read, by its id."""


def result(claim: BatchClaim, address: Address) -> BatchResult:
    """Return the claim and its result."""
    return BatchResult(
        number=claim.number,
        claim=claim.claim.text,
        speaker=claim.claim.speaker,
        date=claim.claim.date,
        label=claim.label,
        confidence=claim.confidence,
        state=claim.state,
        problem=claim.problem or None,
        permalink=address(claim.run_id) if claim.run_id else None,
    )


def as_jsonl(claims: Iterable[BatchClaim], address: Address) -> Iterator[str]:
    """One JSON object a line."""
    for claim in claims:
        yield json.dumps(as_json(result(claim, address)), ensure_ascii=False) + "\n"


def as_csv(claims: Iterable[BatchClaim], address: Address) -> Iterator[str]:
    """A header and one record a claim (RFC 4180). What looks like a formula gets an apostrophe before it."""
    yield _record(COLUMNS)
    for claim in claims:
        yield _record(map(_harmless, as_json(result(claim, address)).values()))


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _record(values: Iterable[Any]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(values)
    return written.getvalue()
