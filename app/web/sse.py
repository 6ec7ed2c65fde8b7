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

from flask import Blueprint, Response, render_template, request, stream_with_context

from app.domain.errors import HopcheckError
from app.domain.events import TERMINAL, HopKept, RunResumed
from app.domain.model import Hop
from app.domain.report import apply_event
from app.runs.service import Place, StoredEvent, StoredRun
from app.web import services
from app.web.auth import stored_run
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
    run = stored_run(run_id)
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
        for stored in events:
            if stored.seq > self.run.last_seq:
                report = apply_event(self.run.report, stored.event, stored.seconds)
                self.run = replace(self.run, report=report, last_seq=stored.seq)
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


def stream_run(run: StoredRun, renderer: Renderer) -> Response:
    """Stream the run's events after the last one that the client has seen, as `renderer` renders them.

    An error is logged and ends the stream; the browser then reconnects.
    """

    def messages() -> Iterator[str]:
        try:
            yield from _messages(run, renderer, last_seen())
        except HopcheckError as error:
            log.warning("the stream of run %s was closed: %s", run.id, error)

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(stream_with_context(messages()), mimetype="text/event-stream", headers=headers)


def last_seen() -> int:
    """Return the number of the last event that the client has seen, 0 where unknown."""
    for number in (request.headers.get("Last-Event-ID", ""), request.args.get("after", "")):
        if number.isascii() and number.isdigit():
            return int(number[:18])  # fits a 64-bit column
    return 0


def _messages(run: StoredRun, renderer: Renderer, after: int) -> Iterator[str]:
    """Yield messages until the run has ended. Without a free slot, yield only the present ones.

    The time to wait before reconnecting comes with the first event: by itself, some clients read it as an empty event.
    """
    retry = f"retry: {RETRY_MILLISECONDS}\n"
    with services().followers.slot() as has_slot:
        while True:
            asked_at = time.monotonic()
            new = services().runs.follow(run.id, after, TICK_SECONDS if has_slot else 0.0)
            if new:
                after = new[-1].seq
                yield retry + renderer.render(new)
                retry = ""
            if renderer.ended and after >= run.last_seq:
                yield retry + END
                return
            if not has_slot:
                return
            if not new:
                if time.monotonic() - asked_at < TICK_SECONDS / 2:
                    return  # no more events can come: the run was deleted, or this process shuts down
                yield renderer.render_place(services().runs.place(run.id)) or HEARTBEAT


def message(html: str, event_id: int | None = None) -> str:
    """Return an SSE message named "update"; `event_id` is the last event's number."""
    lines = re.split(r"\r\n|\r|\n", html)  # the line ends of SSE; str.splitlines splits at others too
    head = "" if event_id is None else f"id: {event_id}\n"
    return f"{head}event: update\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
