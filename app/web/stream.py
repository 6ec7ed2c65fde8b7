"""A running check as server-sent events: whole pieces of the page, rendered from the fold, each replaced by its id.

So a message that arrives twice does no harm. That matters: after a fatal error htmx's extension opens a new
EventSource without Last-Event-ID, and the stream starts again where the page began (`?after=`). Nothing is computed
here: the run goes on whether or not anybody follows, and while a follower waits it holds a thread and nothing else.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from flask import Blueprint, Response, abort, request, stream_with_context

from app.reasoning.errors import HopcheckError
from app.runs.service import Place, StoredEvent
from app.web.current import hopcheck
from app.web.following import Following

log = logging.getLogger(__name__)

stream = Blueprint("stream", __name__)

TICK_SECONDS = 1.0
"""How long a quiet follower waits before it looks at the queue and writes something.

A tab that was closed is noticed at the second writing, so its seat is free again after two of them.
"""

RETRY_MILLISECONDS = 2000
HEARTBEAT = ": still here\n\n"
END = "event: end\ndata: end\n\n"


@stream.get("/runs/<run_id>/events")
def events(run_id: str) -> Response:
    """What happened after the event the reader last saw (Last-Event-ID, or `?after=`), and then what happens."""
    return server_sent(run_id, Pieces(Following(hopcheck().runs.report(run_id) or abort(404))))


class Reader(Protocol):
    """Who is told of a run, and turns what happens into messages of a stream."""

    @property
    def ended(self) -> bool:
        """Whether this reader has been told the end, or knew it from the start."""

    def happened(self, events: Sequence[StoredEvent]) -> str:
        """Messages of these events, at least one. The last carries the last event's number as its id."""

    def moved_to(self, place: Place | None) -> str:
        """A message of the run's place in the queue; "" when it is the one that was told last."""


class Pieces:
    """A browser, which gets pieces of the page."""

    def __init__(self, following: Following) -> None:
        self._following = following

    @property
    def ended(self) -> bool:
        return bool(self._following.run.report.ended)

    def happened(self, events: Sequence[StoredEvent]) -> str:
        return message(self._following.happened(events), events[-1].seq)

    def moved_to(self, place: Place | None) -> str:
        drawn = self._following.moved_to(place)
        return message(drawn) if drawn else ""


def server_sent(run_id: str, reader: Reader) -> Response:
    """What happened after the event that the sender of this request last saw, and what happens, told by `reader`."""
    body = stream_with_context(_while_it_works(run_id, _messages(run_id, reader, _last_seen())))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(body, mimetype="text/event-stream", headers=headers)


def _while_it_works(run_id: str, messages: Iterator[str]) -> Iterator[str]:
    """The same messages; trouble ends them with a line in the log, and the browser asks again by itself."""
    try:
        yield from messages
    except HopcheckError as error:
        log.warning("a reader of run %s was let go: %s", run_id, error)


def _last_seen() -> int:
    for text in (request.headers.get("Last-Event-ID", ""), request.args.get("after", "")):
        if text.isascii() and text.isdigit():
            return int(text[:18])
    return 0


def _messages(run_id: str, reader: Reader, after: int) -> Iterator[str]:
    """Updates until the run has ended. Without a free seat: what there is, once; the browser comes back by itself."""
    runs = hopcheck().runs
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    with hopcheck().followers.seat() as seated:
        while True:
            asked = time.monotonic()
            happened = runs.follow(run_id, after, TICK_SECONDS if seated else 0.0)
            if happened:
                after = happened[-1].seq
                yield reader.happened(happened)
            if reader.ended:
                yield END
                return
            if not seated or (not happened and time.monotonic() - asked < TICK_SECONDS / 2):
                return  # nothing can come to this reader here: the run is gone, or this process leaves
            if not happened:
                yield reader.moved_to(runs.place(run_id)) or HEARTBEAT


def message(html: str, seq: int | None = None) -> str:
    """One SSE message named "update". Its id is the number of the event it tells; what is not stored has none."""
    lines = re.split(r"\r\n|\r|\n", html)  # the three line ends that the format knows; str.splitlines knows more
    head = "" if seq is None else f"id: {seq}\n"
    return f"{head}event: update\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
