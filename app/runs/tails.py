"""What happens in a run is looked up once for all in this process who follow it.

With twenty readers of a run, twenty would be woken by each event, look into the database and read the same. Here one of
them, whoever comes first, looks for all; the others sleep until something has been found or their own time is over. So
all are told the same events at the same moment, and what is drawn of them can be drawn once, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from app.reasoning.events import TERMINAL
from app.runs.event_store import EventStore, StoredEvent


class Tails:
    """The runs of one log that are followed in this process. Safe to share between threads."""

    def __init__(self, events: EventStore) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._followed: dict[str, _Tail] = {}

    def follow(self, run_id: str, after: int, wait: float) -> tuple[StoredEvent, ...]:
        """As `EventStore.follow`."""
        if wait <= 0:
            return self._events.follow(run_id, after, wait)
        with self._tail(run_id, after) as tail:
            return tail.follow(after, wait)

    @contextmanager
    def _tail(self, run_id: str, after: int) -> Iterator[_Tail]:
        """The run's tail, which is there as long as anybody waits at it."""
        with self._lock:
            tail = self._followed.get(run_id)
            if tail is None:
                tail = self._followed[run_id] = _Tail(self._events, run_id, after)
            tail.waiting += 1
        try:
            yield tail
        finally:
            with self._lock:
                tail.waiting -= 1
                if not tail.waiting:
                    del self._followed[run_id]


class _Tail:
    """The events of one run behind number `first`, as far as somebody has looked."""

    def __init__(self, events: EventStore, run_id: str, first: int) -> None:
        self.waiting = 0
        self._events = events
        self._run_id = run_id
        self._first = first
        self._found: list[StoredEvent] = []
        self._over = False
        self._looking = False
        self._changed = threading.Condition()

    def follow(self, after: int, wait: float) -> tuple[StoredEvent, ...]:
        """What is behind `after`: what was found already, or found by another or by this thread within `wait`."""
        if after < self._first:  # a reader who is behind the others
            return self._events.follow(self._run_id, after, wait)
        deadline = time.monotonic() + wait
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._new_to(after) or not self._looking, self._left(deadline))
                if self._new_to(after) or self._over or self._left(deadline) <= 0:
                    self._changed.notify()  # it may have been this one's turn to look
                    return tuple(self._found[max(0, after - self._first) :])
                self._looking = True
            self._look(deadline)

    def _new_to(self, after: int) -> bool:
        return self._first + len(self._found) > after

    def _look(self, deadline: float) -> None:
        """Look for all. Whatever comes of it, somebody else looks next; who found nothing wakes one for that."""
        happened: tuple[StoredEvent, ...] = ()
        over = False
        try:
            happened = self._events.follow(self._run_id, self._first + len(self._found), self._left(deadline))
            over = not happened and self._left(deadline) > 0  # as `EventStore.follow` says that no more can come
        finally:
            with self._changed:
                self._found += happened
                self._over = over or bool(happened and isinstance(happened[-1].event, TERMINAL))
                self._looking = False
                self._changed.notify_all() if happened or over else self._changed.notify()

    @staticmethod
    def _left(deadline: float) -> float:
        return max(0.0, deadline - time.monotonic())
