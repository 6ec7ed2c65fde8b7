"""Small sample rows in every format, written to files by the tests."""

from __future__ import annotations

import json
from pathlib import Path

from research.evaluation.datasets import Row
from research.evaluation.labels import Gold

EVIDENCE = [{"title": "Ada Stone", "text": "Ada Stone was a painter from Basel."}]


def written(path: Path, *rows: dict | str) -> Path:
    """Write these rows to a JSONL file; a string is written verbatim."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def hover(number: int, label: str = "SUPPORTED", hops: int = 2) -> dict:
    """Return a row in HoVer's format."""
    claim = f"Ada Stone made claim {number} there."
    return {"id": f"h{number}", "claim": claim, "label": label, "hops": hops, "group": "g", "evidence": EVIDENCE}


def feverous(label: str) -> dict:
    """Return a row in FEVEROUS-S's format."""
    return {"id": 7, "claim": "Ada Stone painted.", "label": label, "challenge": "Other", "evidence": EVIDENCE}


def averitec(label: str = "Refuted") -> dict:
    """Return a row in AVeriTeC's format: an explained no, a textual answer, and an unanswerable question."""
    yes_or_no = {"answer": "No", "answer_type": "Boolean", "boolean_explanation": "She stayed in Basel."}
    unanswered = {"answer": "No answer could be found.", "answer_type": "Unanswerable"}
    questions = [
        {"question": "Did Ada Stone leave Basel?", "answers": [yes_or_no]},
        {"question": "What was she?", "answers": [{"answer": "A painter.", "answer_type": "Extractive"}]},
        {"question": "Why?", "answers": [unanswered]},
    ]
    return {"id": "a1", "claim": "Ada Stone left Basel.", "label": label, "questions": questions}


def row(number: int, label: Gold, hops: int | None = None) -> Row:
    """Return a parsed row."""
    return Row(f"r{number}", f"Claim {number}.", label, (("Title", "Text."),), hops=hops)
