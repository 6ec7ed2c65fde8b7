"""API routes that export, compare and publish reports, and for the owner's notes on them."""

from __future__ import annotations

from flask import Response, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Conflict, NotFound

from app.domain.comparison import NoSuchRun, PageUsed, pages, rows, runs_to_compare
from app.domain.errors import InvalidInput
from app.domain.model import Label, Note
from app.runs.json_schema import as_json
from app.runs.notes import VERDICT, NoteChanged, agreement, clean_note, clean_signature, parse_note_hop
from app.runs.service import StoredRun
from app.runs.transfer import note_of, usage_of
from app.web import services
from app.web.api.blueprint import API, api_blueprint, one_of, run_response, sent, sent_cursor, sent_limit
from app.web.api.schemas import (
    ComparedPage,
    ComparedQuestion,
    ComparedRun,
    Comparison,
    Gallery,
    NewNote,
    NoteList,
    Nothing,
    PageUse,
)
from app.web.auth import owned, stored_run
from app.web.exporters import exporter_of, exporters
from app.web.pages.annotations import NOTHING_SAID, PUBLISHING_OFF, may_publish
from app.web.pages.history import encode_cursor
from app.web.pages.transfer import NOT_YET, export_of

api_reports = api_blueprint("api_reports")


def export(run_id: str, file: str) -> Response:
    """Return an ended run in the format of `file`; `?notes=yes` adds the owner's notes, for the owner only."""
    exporter = exporter_of(file)
    has_notes = exporter.takes_notes and one_of("notes", ("yes",))
    notes = tuple(services().runs.notes.of(owned(run_id).id)) if has_notes else None
    run = _ended(run_id)
    if not exporter.has_content(run):
        raise Conflict(exporter.without_content)
    return Response(exporter.write(export_of(run, notes)), mimetype=exporter.media_type)


for _each in exporters():
    if _each.operation:
        api_reports.add_url_rule(f"{API}/runs/<run_id>/{_each.file}", view_func=export, defaults={"file": _each.file})


@api_reports.get(f"{API}/compare")
def compare() -> Response:
    """Compare two to four runs of one claim."""
    try:
        runs = runs_to_compare(services().runs.report, request.args.getlist("run"))
    except NoSuchRun as error:
        raise NotFound(str(error)) from None
    reports = [run.report for run in runs]
    answer = Comparison(
        tuple(_column(run) for run in runs),
        tuple(
            ComparedQuestion(row.question, row.agree, tuple(hop.number if hop else None for hop in row.hops))
            for row in rows(reports)
        ),
        tuple(_page(page) for page in pages(reports)),
    )
    return jsonify(as_json(answer))


def _ended(run_id: str) -> StoredRun:
    """Return the run. Raises NotFound, and Conflict for one that has not ended."""
    run = stored_run(run_id)
    if not run.report.ended:
        raise Conflict(NOT_YET)
    return run


def _column(run: StoredRun) -> ComparedRun:
    report = run.report
    label = report.verdict.label if report.verdict else None
    return ComparedRun(run.id, report.ended or "running", label, round(report.seconds, 3), usage_of(report.usage))


def _page(page: PageUsed) -> ComparedPage:
    passage, uses = page.passage, tuple(PageUse(use.cited, use.read) for use in page.uses)
    return ComparedPage(passage.title, passage.source, passage.url, page.alike, uses)


api_publishing = api_blueprint("api_publishing")


@api_publishing.post(f"{API}/runs/<run_id>/publish")
def publish(run_id: str) -> Response:
    """Publish the principal's run in the gallery. Idempotent."""
    sent(Nothing)
    owned(run_id)
    _require_publishing()
    try:
        services().runs.publishing.publish(run_id)
    except InvalidInput as error:
        raise Conflict(str(error)) from None
    return run_response(owned(run_id))


@api_publishing.post(f"{API}/runs/<run_id>/unpublish")
def unpublish(run_id: str) -> Response:
    """Remove the principal's run from the gallery. Idempotent."""
    sent(Nothing)
    services().runs.publishing.unpublish(owned(run_id).id)
    return run_response(owned(run_id))


@api_publishing.get(f"{API}/gallery")
def gallery() -> Response:
    """List the published reports, newest first."""
    _require_publishing()
    limit = sent_limit()
    found = services().runs.publishing.listed(one_of("label", tuple(Label)), limit + 1, sent_cursor())
    page = found[:limit]
    following = encode_cursor(page[-1].published_at, page[-1].id) if len(found) > limit else None
    return jsonify(as_json(Gallery(tuple(page), following)))


def _require_publishing() -> None:
    if not may_publish():
        raise NotFound(PUBLISHING_OFF)


api_notes = api_blueprint("api_notes")

CHANGED = "Another request changed this note at the same time. Read it and try again."


@api_notes.get(f"{API}/runs/<run_id>/notes")
def read_notes(run_id: str) -> Response:
    """List the principal's notes on their run."""
    return jsonify(as_json(NoteList(tuple(map(note_of, services().runs.notes.of(owned(run_id).id))))))


@api_notes.put(f"{API}/runs/<run_id>/notes/<hop>")
def write(run_id: str, hop: str) -> Response:
    """Write a note, replacing the one that exists."""
    run, body = owned(run_id), sent(NewNote)
    number, text = _hop(run, hop), clean_note(body.text or "")
    if body.agrees is None and not text and not body.label:
        raise InvalidInput(NOTHING_SAID, "text")
    if body.label and number != VERDICT:
        raise InvalidInput("A verdict is on the whole check: write it as the note on hop 0.", "label")
    agrees = agreement(body.label, run.report) if body.label else body.agrees
    current = _current_note(run_id, number)
    seen, signed = current.written_at if current else None, clean_signature(body.signed or "")
    try:
        services().runs.notes.write(run_id, number, agrees, text, seen, body.label, signed)
    except NoteChanged:
        raise Conflict(CHANGED) from None
    written = _current_note(run_id, number)
    if written is None:
        raise Conflict(CHANGED)
    return jsonify(as_json(note_of(written)))


@api_notes.delete(f"{API}/runs/<run_id>/notes/<hop>")
def remove(run_id: str, hop: str) -> ResponseReturnValue:
    """Remove a note. Idempotent."""
    number = _hop(owned(run_id), hop)
    current = _current_note(run_id, number)
    try:
        services().runs.notes.remove(run_id, number, current.written_at if current else None)
    except NoteChanged:
        raise Conflict(CHANGED) from None
    return "", 204


def _hop(run: StoredRun, text: str) -> int:
    """Return the hop's number. Raises NotFound for an unknown hop, Conflict while the run has not ended."""
    try:
        return parse_note_hop(run.report, text)
    except InvalidInput as error:
        raise (NotFound if run.report.ended else Conflict)(str(error)) from None


def _current_note(run_id: str, hop: int) -> Note | None:
    return next((note for note in services().runs.notes.of(run_id) if note.hop == hop), None)
