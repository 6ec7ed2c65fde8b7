"""Read and validate training data and base models, before anything is computed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from app.backends.local.loading import CAUSAL, check_kind, require_model_folder
from app.backends.local.weight_files import require_safetensors
from app.domain.errors import InvalidInput, ModelUnavailable
from research.claims.data import CLAIMS_FILE
from research.evaluation.datasets import read_objects
from research.evaluation.labels import Gold
from research.training.judge_examples import SQUAD
from research.training.pairs import SOURCES
from research.training.squad import FILES

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


# Checks of the judge's data and base model.

FIX = "another --base: the name of a causal language model on the hub, or a folder with one"


def require_judge_data(folder: Path) -> None:
    """Raise InvalidInput when a file is missing or empty, or a row is invalid."""
    files = {f"{source}.jsonl": _require_row for source in SOURCES}
    files |= {SQUAD: _require_row_with_evidence, CLAIMS_FILE: _require_vital_claim}
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {folder}; the judge learns from {', '.join(files)} in it.", "data")
    for name, check in files.items():
        rows_of(folder / name, check)


def _require_row(row: dict[str, Any]) -> None:
    text_in(row, "claim")
    if not isinstance(row.get("id"), str | int):
        raise ValueError("no id")
    if row.get("label") not in tuple(Gold):
        raise ValueError(f"the label {row.get('label')!r} is unknown; known are {', '.join(Gold)}")
    for part in list_in(row, "evidence") if row.get("evidence") else []:
        text_in(part, "text")
        if not isinstance(part.get("title"), str):
            raise ValueError("evidence without a title")


def _require_row_with_evidence(row: dict[str, Any]) -> None:
    _require_row(row)
    list_in(row, "evidence")


def _require_vital_claim(row: dict[str, Any]) -> None:
    _require_row_with_evidence(row)
    for field in ("kind", "group", "style", "explanation"):
        text_in(row, field)
    if not isinstance(row.get("hops"), int):
        raise ValueError("no hops")
    if not isinstance(row.get("decisive"), list):
        raise ValueError("no decisive")
    for asked in list_in(row, "questions"):
        text_in(asked, "question")
        if not {"answer", "title"} <= asked.keys():
            raise ValueError("a question without an answer and a title (null where there is none)")


def require_judge_base(base: str) -> Path:
    """Return the folder of `base`. Raises ModelUnavailable when the judge's adapter cannot be trained on it."""
    from safetensors import safe_open
    from transformers import AutoTokenizer

    folder = require_model_folder(base, FIX)
    check_kind(folder, base, CAUSAL, FIX)
    if not (folder / "model.safetensors").is_file():
        raise ModelUnavailable(f"{base} has its weights in several files; the judge's base has them in one", FIX)
    with safe_open(require_safetensors(folder / "model.safetensors", FIX), "numpy") as weights:
        if not any(".q_proj." in name for name in weights.keys()):  # noqa: SIM118 - not a mapping
            raise ModelUnavailable(f"{base} does not have Llama's layers, which the judge's adapter needs", FIX)
    if AutoTokenizer.from_pretrained(folder, trust_remote_code=False).pad_token_id is None:
        raise ModelUnavailable(f"The tokenizer of {base} has no padding token, which batches need", FIX)
    return folder


def first_adapted_layer(base: Path) -> int:
    """Return the first layer with an adapter: the lowest third has none, as in the shipped judge."""
    return int(json.loads((base / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"]) // 3


# Checks of SQuAD's files. Messages name the file and the position of the fault.


def require_squad(folder: Path) -> None:
    """Raise InvalidInput when a file is missing or empty, or is not in SQuAD's format."""
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {folder}; the reader learns from {' and '.join(FILES)} in it.", "data")
    for name in FILES:
        try:
            _require_articles(json.loads((folder / name).read_text(encoding="utf-8")))
        except OSError as error:
            raise InvalidInput(f"{folder / name} cannot be read: {error.strerror}.", "data") from error
        except json.JSONDecodeError as error:
            raise InvalidInput(f"{name}, line {error.lineno}: not JSON ({error.msg}).", "data") from error
        except ValueError as error:
            raise InvalidInput(f"{name} is not in SQuAD's format: {error}.", "data") from error


def _require_articles(found: Any) -> None:
    if not isinstance(found, dict):
        raise ValueError("no JSON object with data")
    for at, article in enumerate(list_in(found, "data"), 1):
        try:
            text_in(article, "title")
            for paragraph in list_in(article, "paragraphs"):
                _require_paragraph(paragraph)
        except ValueError as error:
            raise ValueError(f"article {at} has {error}") from None


def _require_paragraph(paragraph: dict[str, Any]) -> None:
    text = text_in(paragraph, "context")
    for asked in list_in(paragraph, "qas"):
        question = text_in(asked, "question")
        for answer in list_in(asked, "answers") if asked.get("answers") else []:
            if text_in(answer, "text") not in text:
                raise ValueError(f"an answer to {question!r} that is not in its context")
