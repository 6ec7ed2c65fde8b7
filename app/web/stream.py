"""A running check as server-sent events: whole pieces of the page, rendered from the fold, each replaced by its id.

So a message that arrives twice does no harm. That matters: after a fatal error htmx's extension opens a new
EventSource without Last-Event-ID, and the stream starts again where the page began (`?after=`). Nothing is computed
here: the run goes on whether or not anybody follows, and while a follower waits it holds a thread and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from flask import Blueprint, Response, abort, render_template, request, stream_with_context

from app.reasoning.events import TERMINAL
from app.runs.service import StoredEvent, StoredRun
from app.web.current import hopcheck

stream = Blueprint("stream", __name__)

HEARTBEAT_SECONDS = 5.0
"""How long a quiet follower waits. A closed tab is noticed only when something is written, so a seat lasts long."""

RETRY_MILLISECONDS = 2000
HEARTBEAT = ": still here\n\n"
END = "event: end\ndata: end\n\n"


@stream.get("/runs/<run_id>/events")
def events(run_id: str) -> Response:
    """What happened after the event the reader last saw (Last-Event-ID, or `?after=`), and then what happens."""
    if hopcheck().runs.report(run_id) is None:
        abort(404)
    body = stream_with_context(_messages(run_id, _last_seen()))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(body, mimetype="text/event-stream", headers=headers)


def _last_seen() -> int:
    for text in (request.headers.get("Last-Event-ID", ""), request.args.get("after", "")):
        if text.isascii() and text.isdigit():
            return int(text[:18])
    return 0


def _messages(run_id: str, after: int) -> Iterator[str]:
    """Updates until the run has ended. Without a free seat: what there is, once; the browser comes back by itself."""
    runs = hopcheck().runs
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    with hopcheck().followers.seat() as seated:
        while True:
            happened = runs.follow(run_id, after, HEARTBEAT_SECONDS if seated else 0.0)
            run = runs.report(run_id)
            if run is None:
                return
            if happened:
                after = happened[-1].seq
                yield message(_changed(run, happened), after)
            if run.report.ended and after >= run.last_seq:
                yield END
                return
            if not seated:
                return
            if not happened:
                yield HEARTBEAT


def _changed(run: StoredRun, happened: Sequence[StoredEvent]) -> str:
    """The pieces that these events touched, each whole and with its id."""
    if any(isinstance(stored.event, TERMINAL) for stored in happened):
        hops = run.report.hops  # the end closes whatever was open
    else:
        touched = {getattr(stored.event, "hop", None) for stored in happened}
        hops = tuple(hop for hop in run.report.hops if hop.number in touched)
    return render_template("update.html", run=run, report=run.report, hops=hops)


def message(html: str, seq: int) -> str:
    """One SSE message named "update" with the event's sequence number as its id."""
    lines = re.split(r"\r\n|\r|\n", html)  # the three line ends that the format knows; str.splitlines knows more
    return f"id: {seq}\nevent: update\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
