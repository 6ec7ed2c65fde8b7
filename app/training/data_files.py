"""Data files for training: JSON objects, one a line, and every fault named by its line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from app.reasoning.errors import InvalidInput

T = TypeVar("T")


def rows_of(path: Path, understood: Callable[[dict[str, Any]], T]) -> list[T]:
    """What `understood` makes of every row, in the file's order; it raises ValueError, in words, at what is none.

    Raises InvalidInput, which names the first line at fault and counts the others, and for a file without any row.
    """
    rows: list[T] = []
    faults: list[str] = []
    for number, line in _lines(path):
        try:
            rows.append(understood(_object(line)))
        except ValueError as error:
            faults.append(f"{path.name}, line {number}: {error}")
    if faults:
        others = f" (lines at fault in all: {len(faults)})" if len(faults) > 1 else ""
        raise InvalidInput(f"{faults[0]}{others}.", "data")
    if not rows:
        raise InvalidInput(f"{path.name} is empty: there is nothing to train on.", "data")
    return rows


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered from 1, blank ones left out. Bytes, so that one that is no UTF-8 can be named like any other."""
    try:
        with path.open("rb") as lines:
            yield from ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "data") from error


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg})") from None
    except RecursionError:
        raise ValueError("not JSON that can be read (nested too deeply)") from None
    if not isinstance(found, dict):
        raise ValueError("no JSON object; one row a line is wanted")
    return found


def text_in(row: dict[str, Any], field: str) -> str:
    """The text that a row has under `field`. Raises ValueError when there is none."""
    written = row.get(field)
    if not isinstance(written, str) or not written.strip():
        raise ValueError(f"no {field}")
    return written.strip()


def list_in(row: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """The objects that a row has under `field`, at least one. Raises ValueError otherwise."""
    parts = row.get(field)
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise ValueError(f"{field} that are no list of objects")
    return parts
