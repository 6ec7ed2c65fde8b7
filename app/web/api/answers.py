"""What the JSON API says of a run, as it stands or newly made."""

from __future__ import annotations

from flask import Response, jsonify, url_for
from flask.typing import ResponseReturnValue

from app.domain.ports import Wish
from app.runs.export import report_fields
from app.runs.json_schema import as_json
from app.runs.service import StoredRun
from app.web.access_log import about_run
from app.web.api.askers import stored_run
from app.web.api.schemas import Run
from app.web.current import hopcheck


def told(run: StoredRun) -> Response:
    """The exported run, with what is true of it only now."""
    place = None if run.report.ended else hopcheck().runs.place(run.id)
    answer = Run(
        **report_fields(run),
        place=place,
        concluding=run.wish is Wish.CONCLUDE_NOW,
        published_at=run.published_at,
        taken_down=run.taken_down_at is not None,
    )
    response = jsonify(as_json(answer))
    response.headers["Cache-Control"] = "no-store"
    return response


def made(run_id: str) -> ResponseReturnValue:
    """A run that this request has made, and where it is read."""
    about_run(run_id)
    return told(stored_run(run_id)), 201, {"Location": url_for("api_runs.read", run_id=run_id)}
