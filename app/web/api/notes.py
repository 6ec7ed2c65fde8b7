"""API routes for the owner's notes on the hops and the verdict of a run."""

from __future__ import annotations

from flask import Response, jsonify
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Conflict, NotFound

from app.domain.errors import InvalidInput
from app.runs.json_schema import as_json
from app.runs.notes import Note, NoteChanged, clean_note, hop_to_note
from app.runs.service import StoredRun
from app.web.api.auth import owned
from app.web.api.blueprint import API, api_blueprint
from app.web.api.input import sent
from app.web.api.schemas import NewNote, NoteList
from app.web.pages.notes import NOTHING_SAID
from app.web.services import services

api_notes = api_blueprint("api_notes")

CHANGED = "This note was changed by somebody else at the same moment, so nothing was done. Please read it again."


@api_notes.get(f"{API}/runs/<run_id>/notes")
def read_notes(run_id: str) -> Response:
    """List the principal's notes on their run."""
    return jsonify(as_json(NoteList(services().runs.notes.of(owned(run_id).id))))


@api_notes.put(f"{API}/runs/<run_id>/notes/<hop>")
def write(run_id: str, hop: str) -> Response:
    """Write a note, replacing the one that exists."""
    run, body = owned(run_id), sent(NewNote)
    number, text = _hop(run, hop), clean_note(body.text or "")
    if body.agrees is None and not text:
        raise InvalidInput(NOTHING_SAID, "text")
    current = _current_note(run_id, number)
    try:
        services().runs.notes.write(run_id, number, body.agrees, text, current.written_at if current else None)
    except NoteChanged:
        raise Conflict(CHANGED) from None
    written = _current_note(run_id, number)
    if written is None:
        raise Conflict(CHANGED)
    return jsonify(as_json(written))


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


def _hop(run: StoredRun, number: str) -> int:
    """Return the hop's number. Raises NotFound for an unknown hop, Conflict while the run has not ended."""
    known = number.isascii() and number.isdigit() and len(number) < 4
    try:
        return hop_to_note(run.report, int(number) if known else -1)
    except InvalidInput as error:
        raise (NotFound if run.report.ended else Conflict)(str(error)) from None


def _current_note(run_id: str, hop: int) -> Note | None:
    return next((note for note in services().runs.notes.of(run_id) if note.hop == hop), None)
