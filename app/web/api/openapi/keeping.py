"""The operations of the OpenAPI document for what a run's owner keeps, gives away or takes away."""

from __future__ import annotations

from app.domain.model import Label
from app.runs.deletion import UNDO_SECONDS
from app.web.api.input import HIGHEST_HOP
from app.web.api.openapi.parts import (
    LISTING,
    OWNED,
    RUN_ID,
    STEERED,
    Operation,
    PathItem,
    in_query,
    new_run,
    of_a_run,
    operation,
    steering,
    told,
)
from app.web.api.schemas.parts import text

HOP = {
    "name": "hop",
    "in": "path",
    "required": True,
    "schema": {"type": "integer", "minimum": 0, "maximum": HIGHEST_HOP},
    "description": "The number of the hop, 0 for the verdict.",
}


def keeping_paths() -> dict[str, PathItem]:
    """The addresses below the API's own, and what can be asked there."""
    return {
        "/runs/{run_id}": of_a_run(delete=_delete()),
        "/runs/{run_id}/restore": of_a_run(post=_restore()),
        "/deleted": {"get": _deleted()},
        "/import": {"post": _import()},
        "/runs/{run_id}/publish": of_a_run(post=_publish()),
        "/runs/{run_id}/unpublish": of_a_run(post=_unpublish()),
        "/gallery": {"get": _gallery()},
        "/runs/{run_id}/notes": of_a_run(get=_notes()),
        "/runs/{run_id}/notes/{hop}": {"parameters": [RUN_ID, HOP], "put": _write_note(), "delete": _remove_note()},
    }


def _delete() -> Operation:
    about = (
        "It is gone for everybody at once, its owner too, and stopped first where it goes on. For "
        f"{UNDO_SECONDS / 60:.0f} minutes its owner can have it back; then it goes for good, with its events and notes "
        "and what the cache has kept of its calls alone."
    )
    return operation("delete", "Delete a run", {204: {"description": "It is gone."}}, about, OWNED, owned=True)


def _restore() -> Operation:
    about = "A second time changes nothing."
    return steering("restore", "Have a deleted run back", about, "The run, which is there again.")


def _import() -> Operation:
    about = "Keeps an exported report as a run of yours that is marked as imported: nobody here has seen it come about."
    problems = (401, 413, 415, 422, 429, 503)
    return operation("import", "Import a report", new_run(), about, problems, body="Exported", owned=True)


def _deleted() -> Operation:
    answers = {200: told("The runs, the last deleted first; all of them, so there is no next.", "RunList")}
    return operation("deleted", "List what can be had back", answers, problems=(401, 503), owned=True)


def _publish() -> Operation:
    about = (
        "Puts a run of yours that has come to a verdict in the gallery, where anybody finds it; 404 where the operator "
        "lets nobody publish, 409 for a run that cannot be published, with the reason."
    )
    return steering("publish", "Publish a report", about)


def _unpublish() -> Operation:
    about = "Takes a run of yours out of the gallery. Once more changes nothing."
    return steering("unpublish", "Unpublish a report", about)


def _gallery() -> Operation:
    parameters = (
        *LISTING,
        in_query("label", text(enum=list(Label)), "The label of the verdict."),
    )
    answers = {200: told("The reports, the last published first.", "Gallery")}
    about = "404 where the operator lets nobody publish."
    return operation("gallery", "List published reports", answers, about, (404, 422, 503), parameters=parameters)


def _notes() -> Operation:
    answers = {200: told("The notes.", "NoteList")}
    return operation("notes", "Read your notes on a run", answers, problems=OWNED, owned=True)


def _write_note() -> Operation:
    about = "Says whether you agree with a hop or the verdict of a run of yours that has ended. Replaces the note."
    answers = {200: told("The note.", "Note")}
    return operation("writeNote", "Write a note", answers, about, STEERED, body="NewNote", owned=True)


def _remove_note() -> Operation:
    about = "Where there is none nothing changes."
    answers = {204: {"description": "There is none now."}}
    return operation("removeNote", "Remove a note", answers, about, (409, *OWNED), owned=True)
