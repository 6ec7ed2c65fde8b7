"""Export and share ended runs for anybody with the link, and import exported reports (docs/api.md)."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge

from app.domain.errors import InvalidInput
from app.domain.model import Note
from app.runs.report_schema import export_schema
from app.runs.service import StoredRun
from app.runs.transfer import MAX_BYTES, TOO_LARGE
from app.web import services
from app.web.exporters import Export, exporter_of, exporters
from app.web.exporters.claim_review import claim_review
from app.web.observability import log_run
from app.web.run_view import (
    may_embed,
    may_steer,
    notes_on,
    readers_verdict,
    run_page,
    scope_words,
    sources_to_ask,
    summary_of,
)
from app.web.security import allow_embedding, owner

exports = Blueprint("exports", __name__)

NOT_YET = "This check is still running; it can be exported once it has ended."
NOT_EMBEDDED = "Reports of this site cannot be embedded: its operator has not allowed it."
MAX_NAME = 60
"""Characters of the claim in a file's name."""


def download(run_id: str, file: str) -> ResponseReturnValue:
    """Return a finished run in the format of `file`. `?notes=yes` adds the notes, for the owner only."""
    exporter, run = exporter_of(file), services().runs.report(run_id) or abort(404)
    if not run.report.ended:
        return run_page(run, NOT_YET), 409
    if not exporter.has_content(run):
        return run_page(run, exporter.without_content), 409
    has_notes = exporter.takes_notes and request.args.get("notes") == "yes" and may_steer(run)
    text = exporter.write(export_of(run, tuple(notes_on(run)) if has_notes else None))
    response = Response(text.encode("utf-8", "replace"), mimetype=exporter.media_type)
    words = "-".join(re.findall("[a-z0-9]+", run.report.claim.text.lower()))[:MAX_NAME].strip("-")
    name = f"hopcheck-{words or 'report'}.{file.removeprefix('export.')}"
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


for _each in exporters():
    exports.add_url_rule(f"/runs/<run_id>/{_each.file}", view_func=download, defaults={"file": _each.file})
exports.add_app_template_global(exporters, "exporters")
exports.add_app_template_global(may_embed)
exports.add_app_template_global(summary_of)
exports.add_app_template_global(sources_to_ask)
exports.add_app_template_filter(scope_words)


def export_of(run: StoredRun, notes: tuple[Note, ...] | None = None) -> Export:
    """Return what an exporter of the run gets. Without `notes` it gets the owner's own verdict, which is public."""
    public = readers_verdict(run) if notes is None else None
    notes = (public,) if public else notes
    page, home = url_for("pages.run", run_id=run.id, _external=True), url_for("pages.home", _external=True)
    return Export(run, page, home, notes)


@exports.app_template_global("is_on_loopback")
def is_on_loopback() -> bool:
    """Return whether this page was requested by an address that only this machine has."""
    host = urlsplit(request.host_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@exports.app_template_global("review_of")
def review_of(run: StoredRun) -> dict[str, Any] | None:
    """Return the run's ClaimReview; None for a run without a verdict and for an imported one."""
    export = export_of(run)
    return claim_review(run, export.address, export.home)


@exports.get("/runs/<run_id>/card.png")
def card(run_id: str) -> Response:
    """Return the share card of a report with a verdict; 304 if the client has it."""
    from app.web.sharing import as_png, card_of, etag_of  # loads Pillow, which no other page needs

    run = services().runs.report(run_id) or abort(404)
    shown = card_of(run.report) or abort(404)
    tag = etag_of(shown)
    response = Response(status=304) if tag in request.if_none_match else Response(as_png(shown), mimetype="image/png")
    response.set_etag(tag)
    return response


@exports.get("/runs/<run_id>/embed")
def embed(run_id: str) -> ResponseReturnValue:
    """Return the verdict and its evidence for a frame on the sites of EMBED_ON, without controls."""
    run = services().runs.report(run_id) or abort(404)
    if not may_embed():
        return render_template("error.html", code=404, meaning=NOT_EMBEDDED), 404
    page = Response(render_template("embed.html", run=run, report=run.report), mimetype="text/html")
    return allow_embedding(page, services().settings.embed_on)


@exports.get("/export.schema.json")
def schema() -> Response:
    """Return the JSON Schema of export.json."""
    return jsonify(export_schema())


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
    log_run(run_id)
    return redirect(url_for("pages.run", run_id=run_id), 303)


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
