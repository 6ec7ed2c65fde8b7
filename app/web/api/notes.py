"""A run's owner's notes on its hops and its verdict, by the JSON API."""

from __future__ import annotations

from flask import Response, jsonify
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Conflict, NotFound

from app.domain.errors import InvalidInput
from app.runs.json_schema import as_json
from app.runs.notes import Note, NoteChanged, clean_note, hop_to_note
from app.runs.service import StoredRun
from app.web.api.askers import owned
from app.web.api.blueprint import api_blueprint
from app.web.api.input import sent
from app.web.api.problems import API
from app.web.api.schemas import NewNote, NoteList
from app.web.current import hopcheck
from app.web.notes import NOTHING_SAID

api_notes = api_blueprint("api_notes")

CHANGED = "This note was changed by somebody else at the same moment, so nothing was done. Please read it again."


@api_notes.get(f"{API}/runs/<run_id>/notes")
def read_notes(run_id: str) -> Response:
    """The asker's notes on their run."""
    return jsonify(as_json(NoteList(hopcheck().runs.notes.of(owned(run_id).id))))


@api_notes.put(f"{API}/runs/<run_id>/notes/<hop>")
def write(run_id: str, hop: str) -> Response:
    """Put a note in the place of the one that is there, if there is one."""
    run, wish = owned(run_id), sent(NewNote)
    number, text = _hop(run, hop), clean_note(wish.text or "")
    if wish.agrees is None and not text:
        raise InvalidInput(NOTHING_SAID, "text")
    there = _there(run_id, number)
    try:
        hopcheck().runs.notes.write(run_id, number, wish.agrees, text, there.written_at if there else None)
    except NoteChanged:
        raise Conflict(CHANGED) from None
    kept = _there(run_id, number)
    if kept is None:
        raise Conflict(CHANGED)
    return jsonify(as_json(kept))


@api_notes.delete(f"{API}/runs/<run_id>/notes/<hop>")
def remove(run_id: str, hop: str) -> ResponseReturnValue:
    """Take a note away; where there is none nothing changes."""
    number = _hop(owned(run_id), hop)
    there = _there(run_id, number)
    try:
        hopcheck().runs.notes.remove(run_id, number, there.written_at if there else None)
    except NoteChanged:
        raise Conflict(CHANGED) from None
    return "", 204


def _hop(run: StoredRun, number: str) -> int:
    """The hop of the address. Raises NotFound for one that is not there, Conflict while the run goes on."""
    known = number.isascii() and number.isdigit() and len(number) < 4
    try:
        return hop_to_note(run.report, int(number) if known else -1)
    except InvalidInput as error:
        raise (NotFound if run.report.ended else Conflict)(str(error)) from None


def _there(run_id: str, hop: int) -> Note | None:
    return next((note for note in hopcheck().runs.notes.of(run_id) if note.hop == hop), None)
