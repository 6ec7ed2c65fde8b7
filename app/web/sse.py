"""Follow running checks over server-sent events.

The messages for a browser are whole elements of the page that replace each other by id, so one may arrive twice. This
happens after a fatal error: htmx's extension then opens a new EventSource without Last-Event-ID, and the stream starts
again at the event with which the page was loaded (`?after=`). A run does not depend on its followers; a waiting
follower holds only a server thread.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from flask import Blueprint, Response, abort, render_template, request, stream_with_context

from app.domain.errors import HopcheckError
from app.domain.events import TERMINAL, HopKept, RunResumed
from app.domain.model import Hop
from app.domain.report import apply_event
from app.runs.service import Place, StoredEvent, StoredRun
from app.web import services
from app.web.run_view import branches_of, note_places
from app.web.views import at_work

log = logging.getLogger(__name__)

stream = Blueprint("stream", __name__)

THREADS_FOR_PAGES = 4
"""Server threads that are never taken by streams."""

TICK_SECONDS = 1.0
"""Time for which a follower waits for events before it checks the queue and writes something.

The server notices a closed tab at the second write, so its slot is free again after two ticks.
"""

RETRY_MILLISECONDS = 2000
HEARTBEAT = ": still here\n\n"
END = "event: end\ndata: end\n\n"


@stream.get("/runs/<run_id>/events")
def events(run_id: str) -> Response:
    """Stream the events after the last one that the browser has seen (Last-Event-ID, or `?after=`)."""
    run = services().runs.report(run_id) or abort(404)
    return stream_run(run, PageUpdates(run))


class Followers:
    """Slots for open streams: all server threads but THREADS_FOR_PAGES, and at least one. Thread-safe."""

    def __init__(self, threads: int) -> None:
        self.limit = max(1, threads - THREADS_FOR_PAGES)
        self._count = 0
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        return self._count

    @property
    def has_room(self) -> bool:
        return self._count < self.limit

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Reserve a slot for the block. Yields False where none is free; the block must then end soon."""
        with self._lock:
            is_reserved = self.has_room
            self._count += is_reserved
        try:
            yield is_reserved
        finally:
            with self._lock:
                self._count -= is_reserved


class Renderer(Protocol):
    """Renders the events of one run as messages of a stream."""

    @property
    def ended(self) -> bool:
        """Return whether the rendered run has ended."""

    def render(self, events: Sequence[StoredEvent]) -> str:
        """Return messages for these events, at least one. The last has the last event's number as its id."""

    def render_place(self, place: Place | None) -> str:
        """Return a message with the run's place in the queue, "" where it has not changed."""


class MessageSource(Protocol):
    """Messages about one run or several."""

    @property
    def ended(self) -> bool:
        """Return whether there will be no more messages."""

    def next(self, wait: float) -> str:
        """Return the messages about new events, waiting up to `wait` seconds for some; "" where there are none."""

    def idle(self) -> str:
        """Return a message about places in the queue, which change without events; "" if nothing has changed."""


def apply_events(run: StoredRun, events: Sequence[StoredEvent]) -> StoredRun:
    """Return the run after these events, skipping those that it contains already."""
    for stored in events:
        if stored.seq > run.last_seq:
            run = replace(run, report=apply_event(run.report, stored.event, stored.seconds), last_seq=stored.seq)
    return run


class PageUpdates:
    """The Renderer for a browser: the elements of the page that the events changed."""

    def __init__(self, run: StoredRun) -> None:
        self.run = run
        self.place: Place | None = None
        self._diagram: tuple[object, ...] = ()  # what the diagram shows in the browser

    @property
    def ended(self) -> bool:
        return bool(self.run.report.ended)

    def render(self, events: Sequence[StoredEvent]) -> str:
        self.run = apply_events(self.run, events)
        self.place = None  # a run with new events is not waiting
        html = self._html(self._changed_hops(events), has_progress=True, has_buttons=self._buttons_change(events))
        return message(html, events[-1].seq)

    def render_place(self, place: Place | None) -> str:
        if place == self.place:
            return ""
        self.place = place
        return message(self._html(()))

    def _changed_hops(self, events: Sequence[StoredEvent]) -> tuple[Hop, ...]:
        """Return the hops that these events changed: all of them if the run ended or was resumed."""
        hops = self.run.report.hops
        if any(isinstance(stored.event, (*TERMINAL, RunResumed)) for stored in events):
            return hops
        numbers = {getattr(stored.event, "hop", None) for stored in events}
        return tuple(hop for hop in hops if hop.number in numbers)

    def _buttons_change(self, events: Sequence[StoredEvent]) -> bool:
        """Return whether these events keep the first hop or end the run, which changes the owner's possible actions.

        Buttons are replaced in these cases only, because one that is replaced while it is pressed has no effect.
        The first hop was kept now if all kept hops of the run are kept by these events. The run
        before them cannot be compared, because it may have been read after some of them.
        """
        kept = sum(isinstance(each.event, HopKept) for each in events)
        return bool(self.run.report.ended or (kept and kept == len(self.run.report.context)))

    def _html(self, hops: Sequence[Hop], has_progress: bool = False, has_buttons: bool = False) -> str:
        """Render `hops`; with `has_progress` also the placeholder of the next hop and the state of the open one."""
        report = self.run.report
        diagram = (at_work(report), len(report.context), report.ended)
        diagram_changed = has_progress and diagram != self._diagram
        if diagram_changed:
            self._diagram = diagram
        return render_template(
            "update.html",
            run=self.run,
            report=report,
            hops=hops,
            coming=range(len(report.hops) + 1, report.options.max_hops + 1)[:1] if has_progress else (),
            busy=has_progress and report.open_hop and report.open_hop not in hops,
            place=self.place,
            has_buttons=has_buttons,
            diagram_changed=diagram_changed,
            notes=note_places(self.run),
            branches=branches_of(self.run) if report.ended else (),
        )


class _RunMessages:
    """The MessageSource of one run, from the event after number `after` on."""

    def __init__(self, run: StoredRun, renderer: Renderer, after: int) -> None:
        self._run_id = run.id
        self._last_seq = run.last_seq
        self._renderer = renderer
        self._after = after

    @property
    def ended(self) -> bool:
        """Return whether the run has ended and the client has received all events up to that end."""
        return self._renderer.ended and self._after >= self._last_seq

    def next(self, wait: float) -> str:
        new = services().runs.follow(self._run_id, self._after, wait)
        if not new:
            return ""
        self._after = new[-1].seq
        return self._renderer.render(new)

    def idle(self) -> str:
        return self._renderer.render_place(services().runs.place(self._run_id))


def stream_run(run: StoredRun, renderer: Renderer) -> Response:
    """Stream the run's events after the last one that the client has seen, as `renderer` renders them."""
    (after,) = last_seen()
    return stream_messages(_RunMessages(run, renderer, after), f"run {run.id}")


def stream_messages(source: MessageSource, subject: str) -> Response:
    """Stream the messages of `source`, which takes one follower slot; `subject` is for the log."""
    body = stream_with_context(_log_failures(subject, _messages(source)))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(body, mimetype="text/event-stream", headers=headers)


def last_seen(runs: int = 1) -> tuple[int, ...]:
    """Return the number of the last event that the client has seen, for each of `runs` runs; 0 where unknown.

    The client sends the numbers joined by "-", as it got them in `id:`.
    """
    for text in (request.headers.get("Last-Event-ID", ""), request.args.get("after", "")):
        numbers = text.split("-")
        if len(numbers) == runs and all(number.isascii() and number.isdigit() for number in numbers):
            return tuple(int(number[:18]) for number in numbers)  # fits a 64-bit column
    return (0,) * runs


def _log_failures(subject: str, messages: Iterator[str]) -> Iterator[str]:
    """Pass the messages on. An error is logged and ends the stream; the browser then reconnects."""
    try:
        yield from messages
    except HopcheckError as error:
        log.warning("the stream of %s was closed: %s", subject, error)


def _messages(source: MessageSource) -> Iterator[str]:
    """Yield messages until all runs have ended. Without a free slot, yield only the present ones.

    The time to wait before reconnecting comes with the first event: by itself, some clients read it as an empty event.
    """
    retry = f"retry: {RETRY_MILLISECONDS}\n"
    with services().followers.slot() as has_slot:
        while True:
            asked_at = time.monotonic()
            new = source.next(TICK_SECONDS if has_slot else 0.0)
            if new:
                yield retry + new
                retry = ""
            if source.ended:
                yield retry + END
                return
            if not has_slot:
                return
            if not new:
                if time.monotonic() - asked_at < TICK_SECONDS / 2:
                    return  # no more events can come: the run was deleted, or this process shuts down
                yield source.idle() or HEARTBEAT


def message(html: str, event_id: int | str | None = None) -> str:
    """Return an SSE message named "update"; `event_id` is the last event's number, for several runs joined by "-"."""
    lines = re.split(r"\r\n|\r|\n", html)  # the line ends of SSE; str.splitlines splits at others too
    head = "" if event_id is None else f"id: {event_id}\n"
    return f"{head}event: update\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
