"""Every guarantee in SECURITY.md names existing tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_guarantee_names_existing_tests():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    guarantees = re.findall(r"^\| (?!guarantee|---)[^|]+ \| ([^|]+) \|$", text, re.MULTILINE)
    assert len(guarantees) >= 10
    for tests in guarantees:
        named = re.findall(r"`(tests/[\w/]+\.py)`", tests)
        assert named and all((ROOT / each).is_file() for each in named), tests
