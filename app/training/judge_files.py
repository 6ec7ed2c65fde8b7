"""What the judge is trained from, looked at before anything is computed: the data sets' rows, and the base model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.backends.hub import located
from app.backends.pretrained import CAUSAL, demand_kind
from app.evaluation.labels import Gold
from app.reasoning.errors import InvalidInput, ModelUnavailable
from app.training.data_files import list_in, rows_of, text_in
from app.training.pairs import SOURCES

MEND = "another --base: the name of a causal language model on the hub, or a folder with one"


def demand_judge_data(folder: Path) -> None:
    """Raises InvalidInput when a file is missing or empty, or a row is broken or has a label that nobody knows."""
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {folder}; the judge learns from {', '.join(SOURCES)} in it.", "data")
    for source in SOURCES:
        rows_of(folder / f"{source}.jsonl", _demand_row)


def _demand_row(row: dict[str, Any]) -> None:
    text_in(row, "claim")
    if not isinstance(row.get("id"), str | int):
        raise ValueError("no id")
    if row.get("label") not in tuple(Gold):
        raise ValueError(f"the label {row.get('label')!r} is unknown; known are {', '.join(Gold)}")
    for part in list_in(row, "evidence") if row.get("evidence") else []:
        text_in(part, "text")
        if not isinstance(part.get("title"), str):
            raise ValueError("evidence without a title")


def demand_judge_base(base: str) -> Path:
    """The folder of `base`. Raises ModelUnavailable when it is none, or no causal language model."""
    folder = located(base, MEND)
    demand_kind(folder, base, CAUSAL, MEND)
    if not (folder / "model.safetensors").is_file():
        raise ModelUnavailable(f"{base} has its weights in several files; the judge's base has them in one", MEND)
    return folder
