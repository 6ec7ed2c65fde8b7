"""Runs by the JSON API: started, listed, read and followed."""

from __future__ import annotations

from flask import Response
from flask.typing import ResponseReturnValue

from app.web.api.answers import made, told
from app.web.api.askers import asker, client, starter, stored_run
from app.web.api.blueprint import api_blueprint
from app.web.api.input import check_after, sent_key, sent_run
from app.web.api.lists import sent_cursor, sent_limit, sent_wishes, told_page
from app.web.api.problems import API
from app.web.api.stream import EventMessages
from app.web.current import hopcheck
from app.web.sse import stream_run

api_runs = api_blueprint("api_runs")


@api_runs.post(f"{API}/runs")
def start() -> ResponseReturnValue:
    """Start a run; the same request with the same Idempotency-Key leads to the run that it has started already."""
    who = starter()
    sent = sent_run()
    return made(hopcheck().runs.start(sent.claim, sent.options, who, sent_key(), client()))


@api_runs.get(f"{API}/runs")
def list_runs() -> Response:
    """The asker's runs that fit, newest first, some at a time."""
    limit = sent_limit()
    return told_page(hopcheck().runs.recent(asker(), limit + 1, sent_cursor(), sent_wishes()), limit)


@api_runs.get(f"{API}/runs/<run_id>")
def read(run_id: str) -> Response:
    """A run as it stands, for whoever has its id."""
    return told(stored_run(run_id))


@api_runs.get(f"{API}/runs/<run_id>/events")
def follow(run_id: str) -> Response:
    """A run's stored events, and those that come."""
    check_after()
    run = stored_run(run_id)
    return stream_run(run, EventMessages(run))
