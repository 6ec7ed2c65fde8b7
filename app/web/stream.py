"""Running checks as server-sent events: whole pieces of the page, rendered from the fold, each replaced by its id.

So a message that arrives twice does no harm. That matters: after a fatal error htmx's extension opens a new
EventSource without Last-Event-ID, and the stream starts again where the page began (`?after=`). Nothing is computed
here: the run goes on whether or not anybody follows, and while a follower waits it holds a thread and nothing else.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Protocol

from flask import Blueprint, Response, abort, request, stream_with_context

from app.reasoning.errors import HopcheckError
from app.runs.service import Place, StoredEvent, StoredRun
from app.web.current import hopcheck
from app.web.following import Following
from app.web.steering import may_steer

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
    run = hopcheck().runs.report(run_id) or abort(404)
    return server_sent(run, Pieces(Following(run), own=may_steer(run)))


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
    """A browser, which gets pieces of the page. Those who did not start the run get the same, so it is drawn once."""

    def __init__(self, following: Following, own: bool = False) -> None:
        self._following = following
        self._own = own

    @property
    def ended(self) -> bool:
        return bool(self._following.run.report.ended)

    def happened(self, events: Sequence[StoredEvent]) -> str:
        if self._own:
            return message(self._following.happened(events), events[-1].seq)
        seqs = (events[0].seq, events[-1].seq)
        alike = (self._following.shows, seqs, request.args.get("cards"), request.script_root)
        grown, drawn = hopcheck().drawings.once(alike, lambda: _grown(self._following, events))
        self._following = copy(grown)
        return drawn

    def moved_to(self, place: Place | None) -> str:
        drawn = self._following.moved_to(place)
        return message(drawn) if drawn else ""


def _grown(following: Following, events: Sequence[StoredEvent]) -> tuple[Following, str]:
    """Another following, after these events, and the message of them."""
    grown = copy(following)
    return grown, message(grown.happened(events), events[-1].seq)


class Teller(Protocol):
    """Who finds out what happens, in one run or in several, and says it in messages of a stream."""

    @property
    def ended(self) -> bool:
        """Whether all has been said that will ever happen."""

    def news(self, wait: float) -> str:
        """What has happened since the last time; waits up to `wait` seconds for it. "" when there is nothing."""

    def moved(self) -> str:
        """What has changed where nothing happens: places in the queue. "" when there is nothing."""


class _OfOneRun:
    """Tells one reader of one run, from the event behind `after` on."""

    def __init__(self, run: StoredRun, reader: Reader, after: int) -> None:
        self._run_id = run.id
        self._known = run.last_seq
        self._reader = reader
        self._after = after

    @property
    def ended(self) -> bool:
        """A reader who knew the end from the start has still to be told what led to it, which may come in parts."""
        return self._reader.ended and self._after >= self._known

    def news(self, wait: float) -> str:
        happened = hopcheck().runs.follow(self._run_id, self._after, wait)
        if not happened:
            return ""
        self._after = happened[-1].seq
        return self._reader.happened(happened)

    def moved(self) -> str:
        return self._reader.moved_to(hopcheck().runs.place(self._run_id))


def server_sent(run: StoredRun, reader: Reader) -> Response:
    """What happened after the event that the sender of this request last saw, and what happens, told by `reader`."""
    (after,) = last_seen()
    return told(_OfOneRun(run, reader, after), f"run {run.id}")


def told(teller: Teller, subject: str) -> Response:
    """What `teller` says as a stream, which has one seat among the followers; `subject` is for the log."""
    body = stream_with_context(_while_it_works(subject, _messages(teller)))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(body, mimetype="text/event-stream", headers=headers)


def last_seen(runs: int = 1) -> tuple[int, ...]:
    """The number of the last event of each run that the sender of this request has seen, joined by "-" as `id:` is."""
    for text in (request.headers.get("Last-Event-ID", ""), request.args.get("after", "")):
        numbers = text.split("-")
        if len(numbers) == runs and all(number.isascii() and number.isdigit() for number in numbers):
            return tuple(int(number[:18]) for number in numbers)
    return (0,) * runs


def _while_it_works(subject: str, messages: Iterator[str]) -> Iterator[str]:
    """The same messages; trouble ends them with a line in the log, and the browser asks again by itself."""
    try:
        yield from messages
    except HopcheckError as error:
        log.warning("a reader of %s was let go: %s", subject, error)


def _messages(teller: Teller) -> Iterator[str]:
    """Updates until all has ended. Without a free seat: what there is, once; the browser comes back by itself."""
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    with hopcheck().followers.seat() as seated:
        while True:
            asked = time.monotonic()
            news = teller.news(TICK_SECONDS if seated else 0.0)
            if news:
                yield news
            if teller.ended:
                yield END
                return
            if not seated or (not news and time.monotonic() - asked < TICK_SECONDS / 2):
                return  # nothing can come to this reader here: the run is gone, or this process leaves
            if not news:
                yield teller.moved() or HEARTBEAT


def message(html: str, seq: int | str | None = None) -> str:
    """One SSE message named "update". Its id is the number of the event it tells; what is not stored has none."""
    lines = re.split(r"\r\n|\r|\n", html)  # the three line ends that the format knows; str.splitlines knows more
    head = "" if seq is None else f"id: {seq}\n"
    return f"{head}event: update\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
