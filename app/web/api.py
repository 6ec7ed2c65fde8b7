"""The JSON API: what the page does with runs, for programs (docs/api.md; openapi.py describes every answer).

Nobody steers a run by a form of another site: only JSON is taken, which a browser sends to no other site unasked, so
these routes need no CSRF token.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response, jsonify, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Conflict, NotFound, Unauthorized, UnsupportedMediaType

from app.reasoning.roles import Wish
from app.reasoning.types import LabelSet
from app.runs.export import options_as_dict, run_as_dict
from app.runs.service import RunSummary, StoredRun
from app.samples import SAMPLES
from app.settings import MOST_HOPS
from app.web.access_log import about_run
from app.web.api_input import cursor_of, sent_cursor, sent_limit, sent_object, sent_run
from app.web.api_problems import API, tell_problems
from app.web.api_stream import EventMessages
from app.web.api_tokens import holder
from app.web.current import hopcheck
from app.web.openapi import document
from app.web.security import csrf, owner
from app.web.steering import ENDED, NOTHING_KEPT, STOPPED
from app.web.stream import server_sent

api = Blueprint("api", __name__)
csrf.exempt(api)
tell_problems(api)


@api.before_request
def _take_only_json() -> None:
    if request.method == "POST" and request.mimetype != "application/json":
        raise UnsupportedMediaType("The body must be JSON, sent as application/json.")


@api.get("/api")
def browse() -> str:
    """The API's document as a page."""
    return render_template("api.html", document=document())


@api.get(f"{API}/openapi.json")
def openapi() -> Response:
    """The API's document, OpenAPI 3.1."""
    return jsonify(document())


@api.get(f"{API}/choices")
def choices() -> Response:
    """What a run can be made of here, and what it is made of when nobody chooses."""
    wiring = hopcheck().wiring
    return jsonify(
        **asdict(wiring.offers()),
        labels=[{"name": each.value, "labels": list(each.labels)} for each in LabelSet],
        most_hops=MOST_HOPS,
        defaults=options_as_dict(wiring.defaults()),
        samples=[sample.claim for sample in SAMPLES],
    )


@api.post(f"{API}/runs")
def start() -> ResponseReturnValue:
    """Start a run."""
    starter = asker() if hopcheck().settings.api_tokens else owner()
    run_id = hopcheck().runs.start(*sent_run(), starter)
    about_run(run_id)
    return _told(stored_run(run_id)), 201, {"Location": url_for("api.read", run_id=run_id)}


@api.get(f"{API}/runs")
def list_runs() -> Response:
    """The asker's runs, newest first, some at a time."""
    limit, after = sent_limit(), sent_cursor()
    found = hopcheck().runs.recent(asker(), limit + 1, after)
    page = found[:limit]
    more = cursor_of(page[-1].created_at, page[-1].id) if len(found) > limit else None
    return jsonify(runs=[_summary(each) for each in page], next=more)


@api.get(f"{API}/runs/<run_id>")
def read(run_id: str) -> Response:
    """A run as it stands, for whoever has its id."""
    return _told(stored_run(run_id))


@api.get(f"{API}/runs/<run_id>/events")
def follow(run_id: str) -> Response:
    """A run's stored events, and those that come."""
    return server_sent(run_id, EventMessages(stored_run(run_id)))


@api.post(f"{API}/runs/<run_id>/stop")
def stop(run_id: str) -> Response:
    """End the asker's run at once; what it has stands."""
    sent_object(())
    owned(run_id)
    if not hopcheck().runs.interrupt(run_id, STOPPED):
        raise Conflict(ENDED)
    return _told(stored_run(run_id))


@api.post(f"{API}/runs/<run_id>/conclude")
def conclude(run_id: str) -> Response:
    """Ask for a verdict from what the asker's run has kept."""
    sent_object(())
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        raise Conflict(NOTHING_KEPT)
    if not hopcheck().runs.conclude(run_id):
        raise Conflict(ENDED)
    return _told(stored_run(run_id))


def asker() -> str:
    """Whose runs this request may touch: those of its token's name or, where no tokens are set up, of its cookie.

    "" is nobody: looking makes no cookie. Raises Unauthorized without a token that is known, where one is needed.
    """
    path = hopcheck().settings.api_tokens
    if path is None:
        return session.get("owner", "")
    given = request.authorization
    name = holder(path, given.token) if given and given.type == "bearer" and given.token else None
    if name is None:
        challenge = WWWAuthenticate("bearer", {"realm": "Hopcheck"})
        raise Unauthorized("This needs a token that is known here.", www_authenticate=challenge)
    return f"token:{name}"  # no cookie's owner has a colon


def stored_run(run_id: str) -> StoredRun:
    """The run. Raises NotFound."""
    run = hopcheck().runs.report(run_id)
    if run is None:
        raise NotFound("There is no such run.")
    return run


def owned(run_id: str) -> StoredRun:
    """The run, if it is the asker's; for everybody else there is nothing here."""
    who, run = asker(), hopcheck().runs.report(run_id)
    if run is None or run.owner != who:
        raise NotFound("There is no such run of yours.")
    return run


def _told(run: StoredRun) -> Response:
    """The exported run, with what is true of it only now."""
    place = None if run.report.ended else hopcheck().runs.place(run.id)
    answer: dict[str, Any] = run_as_dict(run)
    answer["place"] = asdict(place) if place else None
    answer["concluding"] = run.wish is Wish.CONCLUDE_NOW
    told = jsonify(answer)
    told.headers["Cache-Control"] = "no-store"
    return told


def _summary(run: RunSummary) -> dict[str, Any]:
    return {**asdict(run), "created_at": run.created_at.isoformat()}
