"""A folder with a row in each set that the adapter is trained on."""

from __future__ import annotations

import json
from pathlib import Path

from research.claims.data import CLAIMS_FILE
from research.training.transcripts import PUBLISHED, SQUAD

ROW = {"id": 1, "claim": "C.", "label": "SUPPORTED", "evidence": [{"title": "T", "text": "It is so."}]}
ARTICLE = {"title": "T", "paragraphs": [{"context": "C.", "qas": [{"question": "Q?", "answers": [{"text": "C"}]}]}]}


def vital_row(at: int) -> dict:
    asked = {"question": "What is the capital?", "answer": "Paris", "title": f"Town {at}"}
    about = {"kind": "place", "group": str(at), "style": "plain", "hops": 1, "explanation": "It is so."}
    return {**about, "id": str(at), "claim": "Paris is the capital.", "label": ("SUPPORTED", "REFUTED")[at % 2]} | {
        "evidence": [{"title": f"Town {at}", "text": "Paris is the capital of France."}],
        "questions": [asked],
        "decisive": ["Paris"],
    }


def write_training_data(folder: Path) -> Path:
    """Write a row of each set, and enough claims about the corpus for all splits."""
    for name in PUBLISHED:
        (folder / f"{name}.jsonl").write_text(json.dumps(ROW) + "\n")
    for name in SQUAD:
        (folder / f"{name}.json").write_text(json.dumps({"data": [ARTICLE]}))
    (folder / CLAIMS_FILE).write_text("".join(json.dumps(vital_row(at)) + "\n" for at in range(60)))
    return folder
