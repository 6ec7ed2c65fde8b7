"""What the JSON API says of a run, as it stands or newly made."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response, jsonify, url_for
from flask.typing import ResponseReturnValue

from app.domain.ports import Wish
from app.runs.export import run_as_dict
from app.runs.service import StoredRun
from app.web.access_log import about_run
from app.web.api.askers import stored_run
from app.web.current import hopcheck


def told(run: StoredRun) -> Response:
    """The exported run, with what is true of it only now."""
    place = None if run.report.ended else hopcheck().runs.place(run.id)
    answer: dict[str, Any] = run_as_dict(run)
    answer["place"] = asdict(place) if place else None
    answer["concluding"] = run.wish is Wish.CONCLUDE_NOW
    answer["published_at"] = run.published_at.isoformat() if run.published_at else None
    answer["taken_down"] = run.taken_down_at is not None
    response = jsonify(answer)
    response.headers["Cache-Control"] = "no-store"
    return response


def made(run_id: str) -> ResponseReturnValue:
    """A run that this request has made, and where it is read."""
    about_run(run_id)
    return told(stored_run(run_id)), 201, {"Location": url_for("api_runs.read", run_id=run_id)}
