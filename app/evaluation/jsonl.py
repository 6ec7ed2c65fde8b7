"""Files of JSON objects, one a line, with every fault named by its line; training reads its data by it too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from app.domain.errors import InvalidInput

T = TypeVar("T")


def read_jsonl(path: Path, understood: Callable[[dict[str, Any], int], T], *, field: str, empty: str) -> list[T]:
    """What `understood` makes of every object and the number of its line, in the file's order.

    `understood` raises ValueError, in words, at an object that is no row. Raises InvalidInput on `field`, which names
    the first line at fault and counts the others; `empty` says in it what cannot be done with a file without any row.
    """
    rows: list[T] = []
    faults: list[str] = []
    for number, line in _lines(path, field):
        try:
            rows.append(understood(_object(line), number))
        except ValueError as error:
            faults.append(f"{path.name}, line {number}: {error}")
    if faults:
        others = f" (lines at fault in all: {len(faults)})" if len(faults) > 1 else ""
        raise InvalidInput(f"{faults[0]}{others}.", field)
    if not rows:
        raise InvalidInput(f"{path.name} is empty: {empty}.", field)
    return rows


def _lines(path: Path, field: str) -> Iterator[tuple[int, bytes]]:
    """Numbered from 1, blank ones left out. Bytes, so that one that is no UTF-8 can be named like any other."""
    try:
        with path.open("rb") as lines:
            yield from ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.", field) from error


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
