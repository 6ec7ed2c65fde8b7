"""What the judge is trained from, looked at before anything is computed: the data sets' rows, and the base model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.backends.hub import located
from app.backends.pretrained import CAUSAL, demand_kind
from app.backends.weight_files import demand_safetensors
from app.domain.errors import InvalidInput, ModelUnavailable
from app.evaluation.labels import Gold
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
    """The folder of `base`. Raises ModelUnavailable when the judge's adapter cannot stand on it."""
    from safetensors import safe_open
    from transformers import AutoTokenizer

    folder = located(base, MEND)
    demand_kind(folder, base, CAUSAL, MEND)
    if not (folder / "model.safetensors").is_file():
        raise ModelUnavailable(f"{base} has its weights in several files; the judge's base has them in one", MEND)
    with safe_open(demand_safetensors(folder / "model.safetensors", MEND), "numpy") as weights:
        if not any(".q_proj." in name for name in weights.keys()):  # noqa: SIM118 - it is no mapping
            raise ModelUnavailable(f"{base} is not built like SmolLM2: the judge's adapter knows Llama's layers", MEND)
    if AutoTokenizer.from_pretrained(folder, trust_remote_code=False).pad_token_id is None:
        raise ModelUnavailable(f"The tokenizer of {base} has no token to fill short texts with", MEND)
    return folder


def upper_layers(base: Path) -> int:
    """The first layer that gets an adapter: a third from below stays as it is, as in the judge that ships."""
    return int(json.loads((base / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"]) // 3
