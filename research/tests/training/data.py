"""A folder with a row in each set that the adapter is trained on, and Ctrl-C in the middle of a training."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def interrupted_at_checkpoint() -> Iterator[None]:
    """Raise KeyboardInterrupt when a training logs that it saved a checkpoint."""

    class Interrupt(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("step"):
                raise KeyboardInterrupt

    log, handler = logging.getLogger("research.training.fine_tuning"), Interrupt()
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
