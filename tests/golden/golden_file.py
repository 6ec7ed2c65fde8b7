"""Compare a value with its golden file, or rewrite the file when UPDATE_GOLDEN=1 is set."""

from __future__ import annotations

import difflib
import json
import os
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "files"
COMMAND = "UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/golden"
MAX_DIFF_LINES = 60

VOLATILE_FIELDS = {"seconds": 0.0, "began": 0.0, "created_at": "TIME", "ended_at": "TIME"}
"""Fields whose value differs from run to run, and what a golden file has instead. Null and objects are kept."""


def compare(name: str, value: Any) -> None:
    """Fail with a diff when `value` differs from the golden file `name`: text as it is, anything else as JSON."""
    actual = value if isinstance(value, str) else json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    file = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        FOLDER.mkdir(exist_ok=True)
        file.write_text(actual, encoding="utf-8")
        return
    expected = file.read_text(encoding="utf-8") if file.exists() else ""
    if actual != expected:
        raise AssertionError(_message(name, expected, actual))


def _message(name: str, expected: str, actual: str) -> str:
    diff = list(difflib.unified_diff(expected.splitlines(), actual.splitlines(), "golden", "now", lineterm="", n=2))
    if len(diff) > MAX_DIFF_LINES:
        diff[MAX_DIFF_LINES:] = [f"... {len(diff) - MAX_DIFF_LINES} more lines"]
    return "\n".join(
        [
            f"The public surface differs from tests/golden/files/{name}.",
            f"If the change is intended, update the file and commit it:  {COMMAND}",
            *diff,
        ]
    )


def without_prose(schema: Any) -> Any:
    """The JSON schema or OpenAPI document without descriptions and summaries, which may be reworded freely."""
    if isinstance(schema, dict):
        return {
            key: without_prose(each)
            for key, each in schema.items()
            if not (key in ("description", "summary") and isinstance(each, str))
        }
    return [without_prose(each) for each in schema] if isinstance(schema, list) else schema


def normalised(value: Any, replacements: dict[str, str]) -> Any:
    """The JSON value with fixed values in VOLATILE_FIELDS and each key of `replacements` replaced in its texts."""
    if isinstance(value, dict):
        return {
            key: VOLATILE_FIELDS[key]
            if key in VOLATILE_FIELDS and isinstance(each, str | int | float)
            else normalised(each, replacements)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [normalised(each, replacements) for each in value]
    if isinstance(value, str):
        for text, placeholder in replacements.items():
            value = value.replace(text, placeholder)
        return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?", "TIME", value)
    return value
