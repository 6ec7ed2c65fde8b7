"""SECURITY.md promises nothing that no test shows."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_promise_names_tests_that_are_there():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = re.findall(r"^\| (?!promise|---)[^|]+ \| ([^|]+) \|$", text, re.MULTILINE)
    assert len(promises) >= 10
    for tests in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)`", tests)
        assert named and all((ROOT / each).is_file() for each in named), tests
