"""What a run's owner keeps, by the JSON API: importing a report, deleting a run, and having it back for a while."""

from __future__ import annotations

from flask import Response, request
from flask.typing import ResponseReturnValue

from app.web.api.answers import made, told
from app.web.api.askers import asker, owned, starter, stored_run
from app.web.api.blueprint import api_blueprint
from app.web.api.input import sent
from app.web.api.lists import told_list
from app.web.api.problems import API
from app.web.api.schemas import Nothing
from app.web.current import hopcheck

api_keeping = api_blueprint("api_keeping")


@api_keeping.post(f"{API}/import")
def import_report() -> ResponseReturnValue:
    """Keep an exported report as a run of the asker's, marked as imported."""
    who = starter()
    return made(hopcheck().runs.import_report(request.get_data(), who))


@api_keeping.delete(f"{API}/runs/<run_id>")
def delete(run_id: str) -> ResponseReturnValue:
    """Delete the asker's run, stopping it first where it goes on."""
    hopcheck().runs.deletion.delete(owned(run_id).id)
    return "", 204


@api_keeping.get(f"{API}/deleted")
def deleted() -> Response:
    """The asker's runs that were deleted and can still be had back."""
    return told_list(hopcheck().runs.deletion.undoable(asker()))


@api_keeping.post(f"{API}/runs/<run_id>/restore")
def restore(run_id: str) -> Response:
    """Give the asker's deleted run back."""
    sent(Nothing)
    if not hopcheck().runs.deletion.restore(run_id, asker()):
        owned(run_id)  # is there already, or there is nothing
    return told(stored_run(run_id))
