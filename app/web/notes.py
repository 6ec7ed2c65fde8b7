"""The owner's notes on finished reports, on the run's page and in the API.

Notes are read and written by their owner only, but the owner's own verdict is shown to everybody. With JavaScript a
note is replaced in its card; without, the run's page is rendered again. A rejected note is shown as typed, with the
reason.
"""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from app.domain.errors import InvalidInput
from app.domain.messages import Words
from app.domain.model import Label, Note
from app.runs.notes import VERDICT, NoteChanged, checked_note, parse_note_hop
from app.runs.report_schema import RunNote
from app.runs.service import StoredRun
from app.runs.transfer import note_of
from app.web import services
from app.web.api.blueprint import operation
from app.web.api.schemas import NewNote, NoteList
from app.web.auth import owned
from app.web.language import words
from app.web.run_view import SIDES, NoteForm, NotePlace, readers_verdict, run_page
from app.web.runs import is_htmx_request, to_run

notes = Blueprint("notes", __name__)
notes.add_app_template_global(readers_verdict)

CHANGED = Words(
    "This note was changed in another tab meanwhile. What you typed is still here: save it to replace that one."
)


@notes.post("/runs/<run_id>/notes")
def write(run_id: str) -> ResponseReturnValue:
    """Write or change the note on a hop; delete it where the form has `remove`."""
    run = owned(run_id)
    hop = parse_note_hop(run.report, request.form.get("hop", ""))
    sent = NoteForm(*(request.form.get(name, "") for name in ("agrees", "text", "seen", "label", "signed")))
    try:
        _store(run, hop, sent)
    except InvalidInput as error:
        return _rejected(run, hop, sent, error)
    return _render(_place(run_id, hop)) if is_htmx_request() else to_run(run_id, f"note-{hop}")


def _store(run: StoredRun, hop: int, sent: NoteForm) -> None:
    notes = services().runs.notes
    if "remove" in request.form:
        return notes.remove(run.id, hop, sent.seen_at)
    label = Label(sent.label) if hop == VERDICT and sent.label in set(Label) else None
    values = checked_note(run.report, SIDES.get(sent.agrees), sent.text, label, sent.signed)
    return notes.write(run.id, hop, seen=sent.seen_at, **values)


def _place(run_id: str, hop: int) -> NotePlace:
    note = _current_note(run_id, hop)
    return NotePlace(run_id, hop, note, NoteForm.of(note))


def _rejected(run: StoredRun, hop: int, sent: NoteForm, error: InvalidInput) -> ResponseReturnValue:
    """Return the note as typed, the error and the stored note, which the next submission replaces."""
    current = _place(run.id, hop)
    form = replace(sent, seen=current.form.seen)
    is_changed = isinstance(error, NoteChanged)
    place = NotePlace(run.id, hop, current.note, form, CHANGED if is_changed else words(error))
    return _render(place) if is_htmx_request() else (run_page(run, rejected=place), 409 if is_changed else 422)


def _render(place: NotePlace) -> str:
    return render_template("noted.html", place=place)


@operation("get /runs/<run_id>/notes", "notes", owned=True)
def list_notes(run_id: str) -> NoteList:
    """Read your notes on a run."""
    return NoteList(tuple(map(note_of, services().runs.notes.of(owned(run_id).id))))


@operation("put /runs/<run_id>/notes/<hop>", "notes", owned=True)
def write_note(run_id: str, hop: str, body: NewNote) -> RunNote:
    """Write a note.

    Says whether you agree with a hop or the verdict of a run of yours that has ended. Replaces the note.
    """
    run = owned(run_id)
    number = parse_note_hop(run.report, hop)
    if body.label and number != VERDICT:
        raise InvalidInput(Words("A verdict is on the whole check: write it as the note on hop 0."), "label")
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
