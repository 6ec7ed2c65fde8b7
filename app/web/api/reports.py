"""The API's operations that export, compare and publish reports, and those for the owner's notes on them."""

from __future__ import annotations

from flask import Response
from werkzeug.exceptions import Conflict, NotFound

from app.domain.comparison import PageUsed, pages, rows, runs_to_compare
from app.domain.errors import InvalidInput
from app.domain.model import Note
from app.runs.notes import VERDICT, NoteChanged, checked_note, parse_note_hop
from app.runs.report_schema import RunNote
from app.runs.service import StoredRun
from app.runs.transfer import note_of, usage_of
from app.web import services
from app.web.api import schemas
from app.web.api.blueprint import TEXT, operation
from app.web.api.runs import run_of
from app.web.auth import owned, stored_run
from app.web.exporters import Exporter, exporters
from app.web.pages.annotations import PUBLISHING_OFF, may_publish
from app.web.pages.history import decode_cursor, encode_cursor
from app.web.pages.transfer import NOT_YET, export_of

WITHOUT = schemas.WithNotes()


def _add_export(exporter: Exporter, name: str, about: str) -> None:
    def export(run_id: str, query: schemas.WithNotes = WITHOUT) -> Response:
        run = owned(run_id) if query.notes else stored_run(run_id)
        if not run.report.ended:
            raise Conflict(NOT_YET)
        if not exporter.has_content(run):
            raise Conflict(exporter.without_content)
        notes = tuple(services().runs.notes.of(run_id)) if query.notes else None
        return Response(exporter.write(export_of(run, notes)), mimetype=exporter.media_type)

    if not exporter.takes_notes:
        del export.__annotations__["query"]
    schema = {"type": "object"} if exporter.media_type.endswith("json") else TEXT
    details = {"errors": (401, 409) if exporter.takes_notes else (409,), "content": (exporter.media_type, schema)}
    operation(f"get /runs/<run_id>/{exporter.file}", "reports", name=name, about=about, **details)(export)


@operation("post /runs/<run_id>/publish", "reports", owned=True)
def publish_report(run_id: str, body: schemas.Nothing) -> schemas.Run:
    """Publish a report.

    Puts a run of yours that has come to a verdict in the gallery, where anybody finds it; 404 where the operator lets
    nobody publish, 409 for a run that cannot be published, with the reason.
    """
    owned(run_id)
    _require_publishing()
    services().runs.publishing.publish(run_id)
    return run_of(owned(run_id))


@operation("post /runs/<run_id>/unpublish", "reports", owned=True)
def unpublish_report(run_id: str, body: schemas.Nothing) -> schemas.Run:
    """Take a report out of the gallery. A second time changes nothing."""
    services().runs.publishing.unpublish(owned(run_id).id)
    return run_of(owned(run_id))


@operation("get /gallery", "reports", errors=(404,))
def list_published_reports(query: schemas.GalleryListing) -> schemas.Gallery:
    """List published reports, the last published first; 404 where the operator lets nobody publish."""
    _require_publishing()
    after = None if query.cursor is None else decode_cursor(query.cursor)
    found = services().runs.publishing.listed(query.label or "", query.limit + 1, after)
    page = found[: query.limit]
    return schemas.Gallery(
        page, encode_cursor(page[-1].published_at, page[-1].id) if len(found) > query.limit else None
    )


def _require_publishing() -> None:
    if not may_publish():
        raise NotFound(PUBLISHING_OFF)


for _each in exporters():
    if _each.operation:
        _add_export(_each, *_each.operation)


@operation("get /compare", "reports", errors=(404, 501))
def compare_runs(query: schemas.Compared) -> schemas.Comparison:
    """Compare the current state of two to four runs of one claim. Open to anybody who has the ids."""
    runs = runs_to_compare(services().runs.report, query.run)
    reports = [run.report for run in runs]
    return schemas.Comparison(
        tuple(_column(run) for run in runs),
        tuple(
            schemas.ComparedQuestion(row.question, row.agree, tuple(hop.number if hop else None for hop in row.hops))
            for row in rows(reports)
        ),
        tuple(_page(page) for page in pages(reports)),
    )


def _column(run: StoredRun) -> schemas.ComparedRun:
    report = run.report
    label = report.verdict.label if report.verdict else None
    return schemas.ComparedRun(
        run.id, report.ended or "running", label, round(report.seconds, 3), usage_of(report.usage)
    )


def _page(page: PageUsed) -> schemas.ComparedPage:
    passage, uses = page.passage, tuple(schemas.PageUse(use.cited, use.read) for use in page.uses)
    return schemas.ComparedPage(passage.title, passage.source, passage.url, page.alike, uses)


@operation("get /runs/<run_id>/notes", "notes", owned=True)
def list_notes(run_id: str) -> schemas.NoteList:
    """Read your notes on a run."""
    return schemas.NoteList(tuple(map(note_of, services().runs.notes.of(owned(run_id).id))))


@operation("put /runs/<run_id>/notes/<hop>", "notes", owned=True)
def write_note(run_id: str, hop: str, body: schemas.NewNote) -> RunNote:
    """Write a note.

    Says whether you agree with a hop or the verdict of a run of yours that has ended. Replaces the note.
    """
    run = owned(run_id)
    number = parse_note_hop(run.report, hop)
    if body.label and number != VERDICT:
        raise InvalidInput("A verdict is on the whole check: write it as the note on hop 0.", "label")
    values = checked_note(run.report, body.agrees, body.text or "", body.label, body.signed or "")
    current = _current_note(run_id, number)
    services().runs.notes.write(run_id, number, seen=current.written_at if current else None, **values)
    if written := _current_note(run_id, number):
        return note_of(written)
    raise NoteChanged


@operation("delete /runs/<run_id>/notes/<hop>", "notes", owned=True, status=204, errors=(409,))
def remove_note(run_id: str, hop: str) -> None:
    """Remove a note. If there is none, nothing changes."""
    number = parse_note_hop(owned(run_id).report, hop)
    current = _current_note(run_id, number)
    services().runs.notes.remove(run_id, number, current.written_at if current else None)


def _current_note(run_id: str, hop: int) -> Note | None:
    return next((note for note in services().runs.notes.of(run_id) if note.hop == hop), None)
