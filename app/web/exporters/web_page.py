"""Export a run as one HTML file that needs no other file and no network; printed, it is the report as a PDF."""

from __future__ import annotations

from pathlib import Path

from flask import current_app, render_template
from markupsafe import Markup

from app.domain.messages import Words
from app.web.exporters import Export, Exporter


def as_web_page(export: Export) -> str:
    """Return the report with its style sheet inside."""
    style = (Path(str(current_app.static_folder)) / "style.css").read_text("utf-8")
    return render_template(
        "standalone.html",
        run=export.run,
        report=export.run.report,
        address=export.address,
        notes={note.hop: note for note in export.notes or ()},
        style=Markup(style),
    )


EXPORTERS = (
    Exporter(
        file="export.html",
        title=Words("One HTML file"),
        hint=Words("to keep, to send or to print, without this site"),
        media_type="text/html",
        write=as_web_page,
        takes_notes=True,
    ),
)
