"""Export ended runs for anybody with the link, and import exported reports (docs/api.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import RequestEntityTooLarge

from app.domain.errors import InvalidInput
from app.runs import json_schema
from app.runs.notes import Note
from app.runs.report_schema import ExportedRun, export_schema
from app.runs.service import StoredRun
from app.runs.transfer import MAX_BYTES, TOO_LARGE, report_fields, run_as_dict
from app.web import services
from app.web.exporters.citations import CITATIONS, sources
from app.web.exporters.claim_review import claim_review
from app.web.exporters.markdown import report_as_markdown
from app.web.observability import about_run
from app.web.run_view import may_steer, notes_on, run_page
from app.web.security import STALE, on_csrf_error, owner

exports = Blueprint("exports", __name__)

NOT_YET = "This check still goes on, so there is nothing whole to export yet."
NO_REVIEW = "There is no ClaimReview of this report: only a verdict that was reached here has one."
NO_SOURCES = "No kept answer of this report cites a source, so there is nothing to list."
MAX_NAME = 60
"""Characters of the claim in a file's name."""


@exports.get("/runs/<run_id>/export.json")
def as_json(run_id: str) -> ResponseReturnValue:
    """Return the whole report, which /import accepts. `?notes=yes` adds the notes, for the owner only."""
    run = _run(run_id)
    if not run.report.ended:
        return _not_yet(run)
    has_notes = _includes_notes(run)
    exported = (
        json_schema.as_json(ExportedRun(**report_fields(run), notes=notes_on(run))) if has_notes else run_as_dict(run)
    )
    return _download(run, _json(exported), "application/json", "json")


@exports.get("/runs/<run_id>/export.md")
def as_markdown(run_id: str) -> ResponseReturnValue:
    """Return the report as Markdown; `?notes=yes` adds the notes, for the owner only."""
    run = _run(run_id)
    if not run.report.ended:
        return _not_yet(run)
    text = markdown_of(run, notes_on(run) if _includes_notes(run) else ())
    return _download(run, text, "text/markdown", "md")


@exports.get("/runs/<run_id>/claimreview.json")
def as_claim_review(run_id: str) -> ResponseReturnValue:
    """Return the verdict as schema.org's ClaimReview, in JSON-LD."""
    run = _run(run_id)
    if not run.report.ended:
        return _not_yet(run)
    review = review_of(run)
    if review is None:
        return run_page(run, NO_REVIEW), 409
    return _download(run, _json(review), "application/ld+json", "claimreview.json")


@exports.get("/runs/<run_id>/export.ris", defaults={"form": "ris"})
@exports.get("/runs/<run_id>/export.bib", defaults={"form": "bib"})
def as_citations(run_id: str, form: str) -> ResponseReturnValue:
    """Return the cited sources for a reference manager."""
    run = _run(run_id)
    if not run.report.ended:
        return _not_yet(run)
    if not sources(run):
        return run_page(run, NO_SOURCES), 409
    kind, write = CITATIONS[form]
    return _download(run, write(run), kind, form)


@exports.get("/export.schema.json")
def schema() -> Response:
    """Return the JSON Schema of export.json."""
    return jsonify(export_schema())


def markdown_of(run: StoredRun, notes: Sequence[Note] = ()) -> str:
    """Return the run as Markdown with these notes."""
    return report_as_markdown(run, _address(run), notes)


@exports.app_template_global("review_of")
def review_of(run: StoredRun) -> dict[str, Any] | None:
    """Return the run's ClaimReview; None for a run without a verdict and for an imported one."""
    return claim_review(run, _address(run), url_for("pages.home", _external=True))


exports.add_app_template_global(sources, "sources_of")


def _run(run_id: str) -> StoredRun:
    return services().runs.report(run_id) or abort(404)


def _includes_notes(run: StoredRun) -> bool:
    return request.args.get("notes") == "yes" and may_steer(run)


def _address(run: StoredRun) -> str:
    return url_for("pages.run", run_id=run.id, _external=True)


def _not_yet(run: StoredRun) -> ResponseReturnValue:
    return run_page(run, NOT_YET), 409


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _download(run: StoredRun, text: str, mimetype: str, extension: str) -> Response:
    """Return a download, named after the ASCII words of the claim."""
    words = "-".join(re.findall("[a-z0-9]+", run.report.claim.text.lower()))[:MAX_NAME].strip("-")
    response = Response(text.encode("utf-8", "replace"), mimetype=mimetype)
    response.headers.set("Content-Disposition", "attachment", filename=f"hopcheck-{words or 'report'}.{extension}")
    return response


importing = Blueprint("importing", __name__)

NOTHING_SENT = "Choose a file, or paste its text."


@importing.get("/import")
def form() -> str:
    """Show the import form."""
    return _import_page()


@importing.post("/import")
def upload() -> ResponseReturnValue:
    """Store the report and redirect to its page."""
    try:
        run_id = services().runs.import_report(_sent(), owner())
    except InvalidInput as error:
        return _import_page(str(error), _pasted()), 422
    about_run(run_id)
    return redirect(url_for("pages.run", run_id=run_id), 303)


@on_csrf_error(importing)
def _stale(error: CSRFError) -> ResponseReturnValue:
    """Return the form with the pasted text; browsers do not fill in files again."""
    return _import_page(STALE, _pasted()), 400


@importing.errorhandler(RequestEntityTooLarge)
def _too_large(error: RequestEntityTooLarge) -> ResponseReturnValue:
    """Return the form with the size limit; the body was refused by its Content-Length, unread."""
    return _import_page(TOO_LARGE), 413


def _sent() -> bytes:
    """Return the submitted file or, without one, the pasted text. Raises InvalidInput where there is neither."""
    file = request.files.get("file")
    sent = file.read() if file and file.filename else _pasted().encode()
    if not sent:
        raise InvalidInput(NOTHING_SENT, "report")
    return sent


def _pasted() -> str:
    return request.form.get("report", "").strip()


def _import_page(problem: str = "", pasted: str = "") -> str:
    return render_template("import.html", problem=problem, pasted=pasted, most=MAX_BYTES // 1024**2)
