"""Reports of runs that go on, as they were folded last: only what happened since is folded into them.

A log is never changed, only added to, so what was folded once stays right. A page and the stream that it opens ask for
the same report within a moment, and so does everybody else who watches the run.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime
from typing import NamedTuple

from app.reasoning.report import Report, apply, fold
from app.runs.event_store import EventStore

MOST = 64
"""Reports that are kept, those asked for last; of a long run one takes some hundred kilobytes."""


class Folded(NamedTuple):
    """A report, and the number of the last event in it."""

    last_seq: int
    report: Report


class Folds:
    """The reports of one log. Safe to share between threads."""

    def __init__(self, events: EventStore, most: int = MOST) -> None:
        self._events = events
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, datetime], Folded] = OrderedDict()

    def of(self, run_id: str, created_at: datetime, last_seq: int) -> Folded | None:
        """The run's report up to event number `last_seq` at least, None where it has no events. Raises Unreadable.

        `created_at` tells it from one of the same name that was deleted.
        """
        key = (run_id, created_at)
        with self._lock:
            kept = self._kept.get(key)
        folded = kept if kept and kept.last_seq >= last_seq else self._grown(run_id, kept)
        if folded:
            self._keep(key, folded)
        return folded

    def _grown(self, run_id: str, kept: Folded | None) -> Folded | None:
        events = self._events.read(run_id, kept.last_seq if kept else 0)
        if not events:
            return kept
        if kept is None:
            return Folded(events[-1].seq, fold((each.event, each.seconds) for each in events))
        report = kept.report
        for each in events:
            report = apply(report, each.event, each.seconds)
        return Folded(events[-1].seq, report)

    def _keep(self, key: tuple[str, datetime], folded: Folded) -> None:
        with self._lock:
            self._kept[key] = folded
            self._kept.move_to_end(key)
            if folded.report.ended:
                del self._kept[key]
            elif len(self._kept) > self._most:
                self._kept.popitem(last=False)
