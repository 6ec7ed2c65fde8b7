"""Export, share and publish ended runs for anybody with the link, and import exported reports (docs/api.md)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, jsonify, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge

from app.config.settings import is_loopback
from app.domain.errors import InvalidInput, NotNow
from app.domain.messages import Words
from app.domain.model import Label, Note
from app.runs.lifecycle import PublishedRun
from app.runs.report_schema import export_schema
from app.runs.service import StoredRun
from app.runs.transfer import MAX_BYTES, TOO_LARGE
from app.web import services
from app.web.api.blueprint import TEXT, operation
from app.web.api.schemas import Gallery, GalleryListing, Run, WithNotes
from app.web.auth import owned, principal_for_new_run, stored_run
from app.web.errors import SwitchedOff
from app.web.exporters import Export, Exporter, exporters
from app.web.exporters.claim_review import claim_review
from app.web.history import INVALID_CURSOR, decode_cursor, one_page
from app.web.language import words
from app.web.run_view import (
    may_embed,
    may_steer,
    readers_verdict,
    scope_words,
    sources_to_ask,
    summary_of,
)
from app.web.runs import created, run_command, to_run
from app.web.security import allow_embedding, owner

exports = Blueprint("exports", __name__)

NOT_YET = Words("This check is still running; it can be exported once it has ended.")
NOT_EMBEDDED = Words("Reports of this site cannot be embedded: its operator has not allowed it.")
MAX_NAME = 60
"""Characters of the claim in a file's name."""
WITHOUT = WithNotes()


def download(run_id: str, file: str) -> Response:
    """Return a finished run in the format of `file`. `?notes=yes` adds the notes, for the owner only."""
    run = stored_run(run_id)
    has_notes = request.args.get("notes") == "yes" and may_steer(run)
    response = _exported({each.file: each for each in exporters()}[file], run, has_notes)
    words = "-".join(re.findall("[a-z0-9]+", run.report.claim.text.lower()))[:MAX_NAME].strip("-")
    name = f"hopcheck-{words or 'report'}.{file.removeprefix('export.')}"
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


def _exported(exporter: Exporter, run: StoredRun, has_notes: bool) -> Response:
    """Return a run in this format, with notes for its owner only. Raises NotNow if there is nothing to export."""
    if not run.report.ended:
        raise NotNow(NOT_YET)
    if not exporter.has_content(run):
        raise NotNow(exporter.without_content)
    notes = services().runs.notes.of(run.id) if has_notes and exporter.takes_notes else None
    text = exporter.write(export_of(run, notes))
    return Response(text.encode("utf-8", "replace"), mimetype=exporter.media_type)


def _add_operation(exporter: Exporter) -> None:
    def export(run_id: str, query: WithNotes = WITHOUT) -> Response:
        return _exported(exporter, owned(run_id) if query.notes else stored_run(run_id), bool(query.notes))

    if not exporter.takes_notes:
        del export.__annotations__["query"]
    schema = {"type": "object"} if exporter.media_type.endswith("json") else TEXT
    details = {"name": exporter.operation, "about": exporter.about, "content": (exporter.media_type, schema)}
    errors = (401, 409) if exporter.takes_notes else (409,)
    operation(f"get /runs/<run_id>/{exporter.file}", "reports", errors=errors, **details)(export)


for _each in exporters():
    exports.add_url_rule(f"/runs/<run_id>/{_each.file}", view_func=download, defaults={"file": _each.file})
    if _each.operation:
        _add_operation(_each)
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
    return is_loopback(host) or host.endswith(".localhost")


@exports.app_template_global("review_of")
def review_of(run: StoredRun) -> dict[str, Any] | None:
    """Return the run's ClaimReview; None for a run without a verdict and for an imported one."""
    return claim_review(export_of(run))


@exports.get("/runs/<run_id>/card.png")
def card(run_id: str) -> Response:
    """Return the share card of a report with a verdict; 304 if the client has it."""
    from app.web.sharing import as_png, card_of, etag_of  # loads Pillow, which no other page needs

    run = stored_run(run_id)
    shown = card_of(run.report) or abort(404)
    tag = etag_of(shown)
    response = Response(status=304) if tag in request.if_none_match else Response(as_png(shown), mimetype="image/png")
    response.set_etag(tag)
    return response


@exports.get("/runs/<run_id>/embed")
def embed(run_id: str) -> Response:
    """Return the verdict and its evidence for a frame on the sites of EMBED_ON, without controls."""
    run = stored_run(run_id)
    if not may_embed():
        raise SwitchedOff(NOT_EMBEDDED)
    page = Response(render_template("embed.html", run=run, report=run.report), mimetype="text/html")
    return allow_embedding(page, services().settings.embed_on)


@exports.get("/export.schema.json")
def schema() -> Response:
    """Return the JSON Schema of export.json."""
    return jsonify(export_schema())


importing = Blueprint("importing", __name__)

NOTHING_SENT = Words("Choose a file, or paste its text.")


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
        return _import_page(words(error), _pasted()), 422
    return to_run(run_id)


@operation("post /import", "reports", owned=True, status=201, errors=(413, 415, 422), raw_body="Exported")
def import_report() -> Run:
    """Import a report.

    Keeps an exported report as a run of yours that is marked as imported: its check did not take place here.
    """
    return created(services().runs.import_report(request.get_data(), principal_for_new_run()))


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


publishing = Blueprint("publishing", __name__)

REPORTS_PER_PAGE = 20
PUBLISHING_OFF = Words("Nothing is published on this site: its operator has not allowed it.")


@publishing.app_template_global()
def may_publish() -> bool:
    """Return whether the operator allows publishing."""
    return services().settings.publishing


@publishing.app_template_global()
def shows_publishing(run: StoredRun) -> bool:
    """Return whether to show the publishing state of this run: to its owner, once it has a verdict."""
    return may_publish() and may_steer(run) and run.report.verdict is not None


@publishing.get("/gallery")
def gallery() -> str:
    """Show the published reports, newest first; `?label=` filters, `after=` continues."""
    label, cursor, notice = request.args.get("label", ""), request.args.get("after"), ""
    if label not in set(Label):
        label = ""
    try:
        shown, older = _published(label, REPORTS_PER_PAGE, cursor)
    except InvalidInput:
        notice, cursor = INVALID_CURSOR, None
        shown, older = _published(label, REPORTS_PER_PAGE, cursor)
    return render_template(
        "gallery.html", runs=shown, label=label, labels=Label, older=older, is_first=not cursor, notice=notice
    )


@operation("get /gallery", "reports", errors=(404,))
def list_published_reports(query: GalleryListing) -> Gallery:
    """List published reports, the last published first; 404 where the operator lets nobody publish."""
    return Gallery(*_published(query.label or "", query.limit, query.cursor))


def _published(label: str, limit: int, cursor: str | None) -> tuple[tuple[PublishedRun, ...], str | None]:
    """Return a page of the published reports and the cursor of the next one. Raises InvalidInput and SwitchedOff."""
    if not may_publish():
        raise SwitchedOff(PUBLISHING_OFF)
    found = services().runs.publishing.listed(label, limit + 1, decode_cursor(cursor))
    return one_page(found, limit, "published_at")


@run_command("reports", publishing, anchor="keeping")
def publish_report(run_id: str) -> None:
    """Publish a report.

    Puts a run of yours that has come to a verdict in the gallery, where anybody finds it; 404 where the operator lets
    nobody publish, 409 for a run that cannot be published, with the reason.
    """
    run = owned(run_id)
    if not may_publish():
        raise SwitchedOff(PUBLISHING_OFF)
    services().runs.publishing.publish(run.id)


@run_command("reports", publishing, anchor="keeping")
def unpublish_report(run_id: str) -> None:
    """Take a report out of the gallery. A second time changes nothing."""
    services().runs.publishing.unpublish(owned(run_id).id)  # also while publishing is disabled
