"""Long lists, some at a time: what stands in an address for the place behind a run, and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.domain.errors import InvalidInput
from app.runs.projections import Position

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def cursor_of(at: datetime, run_id: str) -> str:
    """What stands for the place behind this run in a list by that time."""
    return f"{(at - _EPOCH) // _MICROSECOND}.{run_id}"


def place_of(cursor: str, field: str = "cursor") -> Position:
    """The time and id of the run behind which to go on. Raises InvalidInput, naming the field, for other text."""
    at, _, run_id = cursor.partition(".")
    if not (at.isascii() and at.isdigit() and len(at) < 18) or "\0" in run_id:  # so far a time can be told
        raise InvalidInput("The cursor must be one that a list of runs gave as its next.", field)
    return _EPOCH + int(at) * _MICROSECOND, run_id
