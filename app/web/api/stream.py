"""A run's stored events as server-sent events in JSON, for programs.

Each message without a name is one stored event: its `id:` is the event's number, its data the event with `seq`,
`seconds` and `kind`. Messages named "place" hold a waiting run's place in the queue and have no id. The last message is
named "end".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from flask import json

from app.domain.events import TERMINAL
from app.runs.event_store import encode
from app.runs.service import Place, StoredEvent, StoredRun


class EventMessages:
    """The sse.Renderer for programs."""

    def __init__(self, run: StoredRun) -> None:
        self.ended = bool(run.report.ended)
        self._place: Place | None = None

    def render(self, events: Sequence[StoredEvent]) -> str:
        """Return one message for each event, as it is stored."""
        self.ended = self.ended or isinstance(events[-1].event, TERMINAL)
        self._place = None  # a run with new events is not waiting
        return "".join(f"id: {stored.seq}\ndata: {json.dumps(event_as_dict(stored))}\n\n" for stored in events)

    def render_place(self, place: Place | None) -> str:
        """Return the place in the queue when it has changed; null once the run no longer waits."""
        if place == self._place:
            return ""
        self._place = place
        return f"event: place\ndata: {json.dumps(asdict(place) if place else None)}\n\n"


def event_as_dict(stored: StoredEvent) -> dict:
    """Return the event as JSON types, with its number and the seconds since the run's start."""
    return {"seq": stored.seq, "seconds": round(stored.seconds, 3), **encode(stored.event)}
