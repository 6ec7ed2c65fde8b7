"""Notes on hops and verdicts, which only their owner reads and writes.

With JavaScript a note is replaced in its card; without, the run's page is rendered again. A rejected note is shown as
typed, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import Blueprint, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.domain.errors import InvalidInput
from app.runs.notes import MAX_NOTE_LENGTH, Note, NoteChanged, clean_note, hop_to_note
from app.runs.service import StoredRun
from app.web.pages.home import run_page
from app.web.pages.run_actions import may_steer, owned
from app.web.security import STALE, on_csrf_error
from app.web.services import services

notes = Blueprint("notes", __name__)

SIDES = {"yes": True, "no": False, "": None}

CHANGED = "This note was changed in another tab meanwhile. What you typed is still here: save it to replace that one."
NOTHING_SAID = "Say whether you agree, or write something."


@dataclass(frozen=True)
class NoteForm:
    """The note form as typed."""

    agrees: str = ""
    text: str = ""
    seen: str = ""  # when the stored note that the form shows was written, "" for none

    @classmethod
    def of(cls, note: Note | None) -> NoteForm:
        """Return the form for an existing note."""
        if note is None:
            return cls()
        side = next(name for name, agrees in SIDES.items() if agrees is note.agrees)
        return cls(side, note.text, note.written_at.isoformat())

    @property
    def seen_at(self) -> datetime | None:
        """Return `seen` as a time; None where there was no note, or for an invalid time."""
        try:
            return datetime.fromisoformat(self.seen) if self.seen else None
        except ValueError:
            return None


@dataclass(frozen=True)
class NotePlace:
    """The view model of a note in a card: the stored note, its form, and the error, if any."""

    run_id: str
    hop: int
    note: Note | None
    form: NoteForm
    problem: str = ""
    longest: int = MAX_NOTE_LENGTH


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


@notes.app_template_global("notes_of")
def notes_of(run: StoredRun) -> dict[int, NotePlace]:
    """Return the place of a note by hop, 0 for the verdict; none for others and before the run's end."""
    if not (run.report.ended and may_steer(run)):
        return {}
    written = {note.hop: note for note in notes_on(run)}
    places = {
        hop: NotePlace(run.id, hop, written.get(hop), NoteForm.of(written.get(hop)))
        for hop in (0, *(hop.number for hop in run.report.hops))
    }
    return {**places, **g.get("notes_sent_back", {})}


def notes_on(run: StoredRun) -> tuple[Note, ...]:
    """Return the notes on a run. The caller must check that this browser owns it."""
    return services().runs.notes.of(run.id)


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
    g.notes_sent_back = {hop: place}
    return run_page(run), code


def _render(place: NotePlace) -> str:
    return render_template("noted.html", place=place)


def _address(run_id: str, hop: int) -> str:
    return url_for("pages.run", run_id=run_id, _anchor=f"note-{hop}")


def _scripted() -> bool:
    return "HX-Request" in request.headers
