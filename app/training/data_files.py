"""Data files for training: what their rows hold, read as the files that are measured on are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from app.evaluation.jsonl import read_jsonl

T = TypeVar("T")


def rows_of(path: Path, understood: Callable[[dict[str, Any]], T]) -> list[T]:
    """What `understood` makes of every row, in the file's order; it raises ValueError, in words, at what is none.

    Raises InvalidInput, which names the first line at fault and counts the others, and for a file without any row.
    """
    return read_jsonl(path, lambda row, _: understood(row), field="data", empty="there is nothing to train on")


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
