"""Exporters of finished runs. A new one is a file here with its `EXPORTERS`, and the file's name in `MODULES`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from app.domain.messages import Words
from app.domain.model import Note
from app.runs import json_schema
from app.runs.report_schema import ExportedRun
from app.runs.service import StoredRun
from app.runs.transfer import note_of, report_fields, run_as_dict

MODULES = ("markdown", "web_page", "claim_review", "citations")


@dataclass(frozen=True)
class Export:
    """A finished run to be exported, with the addresses of its page and of the site."""

    run: StoredRun
    address: str
    home: str
    notes: tuple[Note, ...] | None = None  # None leaves them out


@dataclass(frozen=True)
class Exporter:
    """A download format of a run, for anybody with its link."""

    file: str
    """The last part of its address, such as export.md; the downloaded file has the same ending."""
    title: str
    hint: str
    media_type: str
    write: Callable[[Export], str]
    has_content: Callable[[StoredRun], bool] = lambda run: True
    without_content: str = ""
    """The reason why there is no content, for the reader."""
    takes_notes: bool = False
    operation: str = ""
    """The name of its operation in the API; "" for JSON, which the API has as GET /runs/{run_id}, and for HTML."""
    about: str = ""
    """The operation's summary, and a description after the first line."""


@cache
def exporters() -> tuple[Exporter, ...]:
    """Return all exporters in the order of the page's menu."""
    found = [import_module(f"{__name__}.{name}").EXPORTERS for name in MODULES]
    first, *others = (each for group in found for each in group)
    return first, JSON, *others  # Markdown, JSON, then the others


def to_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _report_as_json(export: Export) -> str:
    if export.notes is None:
        return to_json(run_as_dict(export.run))
    notes = tuple(map(note_of, export.notes))
    return to_json(json_schema.as_json(ExportedRun(**report_fields(export.run), notes=notes)))


JSON = Exporter(
    file="export.json",
    title="JSON",
    hint=Words("everything, to import again"),
    media_type="application/json",
    write=_report_as_json,
    takes_notes=True,
)
