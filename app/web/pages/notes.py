"""Notes on hops and verdicts, which only their owner reads and writes.

With JavaScript a note is replaced in its card; without, the run's page is rendered again. A rejected note is shown as
typed, with the reason.
"""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.domain.errors import InvalidInput
from app.runs.notes import NoteChanged, clean_note, hop_to_note
from app.runs.service import StoredRun
from app.web.pages.run_actions import owned
from app.web.run_view import SIDES, NoteForm, NotePlace, run_page
from app.web.security import STALE, on_csrf_error
from app.web.services import services

notes = Blueprint("notes", __name__)

CHANGED = "This note was changed in another tab meanwhile. What you typed is still here: save it to replace that one."
NOTHING_SAID = "Say whether you agree, or write something."


@notes.post("/runs/<run_id>/notes")
def write(run_id: str) -> ResponseReturnValue:
    """Write, change or (`remove`) delete the note on a hop."""
    run = owned(run_id)
    try:
        hop = _hop(run)
    except InvalidInput as error:
        return run_page(run, str(error)), 409
    sent = _sent()
    try:
        _store(run_id, hop, sent)
    except InvalidInput as error:
        return _rejected(run, hop, sent, str(error), 422)
    except NoteChanged:
        return _rejected(run, hop, sent, CHANGED, 409)
    return _render(_place(run_id, hop)) if _scripted() else redirect(_address(run_id, hop), 303)


@on_csrf_error(notes)
def _stale(error: CSRFError) -> ResponseReturnValue:
    """Return the note as typed, with a valid token."""
    run = owned((request.view_args or {})["run_id"])
    try:
        return _rejected(run, _hop(run), _sent(), STALE, 400)
    except InvalidInput:
        return run_page(run, STALE), 400


def _hop(run: StoredRun) -> int:
    number = request.form.get("hop", "")
    if not (number.isascii() and number.isdigit() and len(number) < 4):
        raise InvalidInput("Choose the hop that the note is about.", "hop")
    return hop_to_note(run.report, int(number))


def _sent() -> NoteForm:
    return NoteForm(*(request.form.get(name, "") for name in ("agrees", "text", "seen")))


def _store(run_id: str, hop: int, sent: NoteForm) -> None:
    """Store the submitted note. Raises InvalidInput, and NoteChanged if another tab changed it first."""
    if "remove" in request.form:
        return services().runs.notes.remove(run_id, hop, sent.seen_at)
    text, agrees = clean_note(sent.text), SIDES.get(sent.agrees)
    if agrees is None and not text:
        raise InvalidInput(NOTHING_SAID, "text")
    return services().runs.notes.write(run_id, hop, agrees, text, sent.seen_at)


def _place(run_id: str, hop: int) -> NotePlace:
    note = next((note for note in services().runs.notes.of(run_id) if note.hop == hop), None)
    return NotePlace(run_id, hop, note, NoteForm.of(note))


def _rejected(run: StoredRun, hop: int, sent: NoteForm, problem: str, code: int) -> ResponseReturnValue:
    """Return the note as typed and the error, beside the stored note, which the next submission replaces."""
    there = _place(run.id, hop)
    form = NoteForm(sent.agrees, sent.text, there.form.seen)
    place = NotePlace(run.id, hop, there.note, form, problem)
    if _scripted():
        return _render(place)
    return run_page(run, sent_back=place), code


def _render(place: NotePlace) -> str:
    return render_template("noted.html", place=place)


def _address(run_id: str, hop: int) -> str:
    return url_for("pages.run", run_id=run_id, _anchor=f"note-{hop}")


def _scripted() -> bool:
    return "HX-Request" in request.headers
