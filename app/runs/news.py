"""Who waits for which run, in this process: what happens in one run wakes those who follow it and nobody else.

With one bell for all, fifty runs with a reader each would wake fifty readers at every event of any of them, and each
would look into the database.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class Waiting:
    """One who waits: `news` is set when something has happened, `end` with it when nothing needs to be waited for."""

    def __init__(self) -> None:
        self.news, self.end = threading.Event(), threading.Event()

    def hear(self, end: bool) -> None:
        """Be told."""
        if end:
            self.end.set()
        self.news.set()


class News:
    """Those who wait, by run. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, set[Waiting]] = {}

    @property
    def runs(self) -> int:
        """How many runs somebody waits for."""
        return len(self._waiting)

    @contextmanager
    def of(self, run_ids: Collection[str]) -> Iterator[Waiting]:
        """Inside the block, what is told of one of these runs is told to the one who waits."""
        waiting = Waiting()
        with self._lock:
            for run_id in run_ids:
                self._waiting.setdefault(run_id, set()).add(waiting)
        try:
            yield waiting
        finally:
            with self._lock:
                for run_id in run_ids:
                    self._waiting[run_id].discard(waiting)
                    if not self._waiting[run_id]:
                        del self._waiting[run_id]

    def tell(self, run_id: str, end: bool = False) -> None:
        """Something happened in this run."""
        with self._lock:
            for waiting in self._waiting.get(run_id, ()):
                waiting.hear(end)

    def tell_all(self, end: bool = False) -> None:
        """Something happened, and nobody knows where."""
        with self._lock:
            for waiting in set().union(*self._waiting.values()):
                waiting.hear(end)
