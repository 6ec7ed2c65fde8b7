"""SQuAD's files, looked at before the reader learns from them: a fault is named by its file and its place in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.training.data_files import list_in, text_in
from app.training.squad import FILES


def demand_squad(folder: Path) -> None:
    """Raises InvalidInput when a file is missing or empty, or is not in SQuAD's format."""
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {folder}; the reader learns from {' and '.join(FILES)} in it.", "data")
    for name in FILES:
        try:
            _demand_articles(json.loads((folder / name).read_text(encoding="utf-8")))
        except OSError as error:
            raise InvalidInput(f"{folder / name} cannot be read: {error.strerror}.", "data") from error
        except json.JSONDecodeError as error:
            raise InvalidInput(f"{name}, line {error.lineno}: not JSON ({error.msg}).", "data") from error
        except ValueError as error:
            raise InvalidInput(f"{name} is not in SQuAD's format: {error}.", "data") from error


def _demand_articles(found: Any) -> None:
    if not isinstance(found, dict):
        raise ValueError("no JSON object with data")
    for at, article in enumerate(list_in(found, "data"), 1):
        try:
            text_in(article, "title")
            for paragraph in list_in(article, "paragraphs"):
                _demand_paragraph(paragraph)
        except ValueError as error:
            raise ValueError(f"article {at} has {error}") from None


def _demand_paragraph(paragraph: dict[str, Any]) -> None:
    text = text_in(paragraph, "context")
    for asked in list_in(paragraph, "qas"):
        question = text_in(asked, "question")
        for answer in list_in(asked, "answers") if asked.get("answers") else []:
            if text_in(answer, "text") not in text:
                raise ValueError(f"an answer to {question!r} that does not stand in its context")
