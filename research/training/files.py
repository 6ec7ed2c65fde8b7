"""Read and validate rows of training data, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from research.evaluation.datasets import read_objects

T = TypeVar("T")


def rows_of(path: Path, parse: Callable[[dict[str, Any]], T]) -> list[T]:
    """Return the parsed rows of a JSONL file; `parse` raises ValueError with a description for an invalid row.

    Raises InvalidInput with the first invalid line and the number of others, or when the file has no rows.
    """
    return read_objects(path, lambda row, _: parse(row), field="data", empty="there is nothing to train on")


def text_in(row: dict[str, Any], field: str) -> str:
    """Return the text of a row's `field`. Raises ValueError when there is none."""
    text = row.get(field)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"no {field}")
    return text.strip()


def list_in(row: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Return the objects in the list of a row's `field`. Raises ValueError unless there is at least one."""
    parts = row.get(field)
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise ValueError(f"{field} that are no list of objects")
    return parts


def require_vital_claim(row: dict[str, Any]) -> None:
    """Raise ValueError when a row of `vital_claims.jsonl` lacks a part."""
    for field in ("id", "claim", "label", "kind", "group", "style", "explanation"):
        text_in(row, field)
    if not isinstance(row.get("hops"), int):
        raise ValueError("no hops")
    if not isinstance(row.get("decisive"), list):
        raise ValueError("no decisive")
    for lead in list_in(row, "evidence"):
        text_in(lead, "title"), text_in(lead, "text")
    for asked in list_in(row, "questions"):
        text_in(asked, "question")
        if not {"answer", "title"} <= asked.keys():
            raise ValueError("a question without an answer and a title (null where there is none)")
