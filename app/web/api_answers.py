"""What the JSON API says of runs: one whole, or some in a list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from flask import Response, jsonify, url_for
from flask.typing import ResponseReturnValue

from app.reasoning.roles import Wish
from app.runs.export import run_as_dict
from app.runs.service import RunSummary, StoredRun
from app.web.access_log import about_run
from app.web.api_askers import stored_run
from app.web.current import hopcheck


def told(run: StoredRun) -> Response:
    """The exported run, with what is true of it only now."""
    place = None if run.report.ended else hopcheck().runs.place(run.id)
    answer: dict[str, Any] = run_as_dict(run)
    answer["place"] = asdict(place) if place else None
    answer["concluding"] = run.wish is Wish.CONCLUDE_NOW
    response = jsonify(answer)
    response.headers["Cache-Control"] = "no-store"
    return response


def made(run_id: str) -> ResponseReturnValue:
    """A run that this request has made, and where it is read."""
    about_run(run_id)
    return told(stored_run(run_id)), 201, {"Location": url_for("api_runs.read", run_id=run_id)}


def told_list(runs: Iterable[RunSummary], following: str | None = None) -> Response:
    """Runs in a list; `following` is the cursor of those that come after."""
    return jsonify(runs=[{**asdict(run), "created_at": run.created_at.isoformat()} for run in runs], next=following)
