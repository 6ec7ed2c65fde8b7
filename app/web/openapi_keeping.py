"""The operations of the OpenAPI document for what a run's owner keeps, gives away or takes away."""

from __future__ import annotations

from app.runs.deletion import UNDO_SECONDS
from app.web.openapi_parts import OWNED, STEERED, Operation, PathItem, of_a_run, operation, told


def keeping_paths() -> dict[str, PathItem]:
    """The addresses below the API's own, and what can be asked there."""
    return {
        "/runs/{run_id}": of_a_run(delete=_delete()),
        "/runs/{run_id}/restore": of_a_run(post=_restore()),
        "/deleted": {"get": _deleted()},
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
    answers = {200: told("The run, which is there again.", "Run")}
    return operation("restore", "Have a deleted run back", answers, about, STEERED, body="Nothing", owned=True)


def _deleted() -> Operation:
    answers = {200: told("The runs, the last deleted first; all of them, so there is no next.", "RunList")}
    return operation("deleted", "List what can be had back", answers, problems=(401, 503), owned=True)
