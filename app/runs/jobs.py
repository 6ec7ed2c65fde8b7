"""Where runs are carried out: a small port, and a few threads of this process behind it.

A job is only a wake: it names a run, and whoever gets the run's lease carries it out from where it stands.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

log = logging.getLogger(__name__)

PEOPLE, BATCHES = "people", "batches"
QUEUES = (PEOPLE, BATCHES)
"""In the order in which they are emptied: the run that a person waits for goes before the claims of any batch."""


RESUBMIT_SECONDS = 5.0


class JobRunner(Protocol):
    """Carries runs out somewhere else, each queue's in the order they came, some of them at once."""

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        """See to it that someone tries to take the run up soon. Naming a run again does no harm."""

    def resubmit_after(self, queue: str) -> float:
        """Return the seconds after which a run that was submitted and not begun is to be submitted again."""

    def carry_out(self, run_id: str) -> None:
        """Bring the run to its end here and now, if nobody else does."""

    def stop(self, wait: float = 0.0) -> None:
        """Begin nothing more; wait at most so many seconds for what is under way. What waits is in the database."""


class ThreadJobs:
    """Up to `workers` runs at once, the others queue by queue; in each it is first come, first served.

    The threads are daemons and no pool of the standard library's, whose threads are joined when the interpreter ends:
    a model call that takes minutes must not hold a shutdown up.
    """

    def __init__(self, carry_out: Callable[[str], None], workers: int) -> None:
        self.carry_out = carry_out
        self._workers = workers
        self._threads: list[threading.Thread] = []
        self._waiting: dict[str, deque[str]] = {queue: deque() for queue in QUEUES}
        self._known: set[str] = set()
        self._news = threading.Condition()
        self._stopped = False

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        """Queue a run that is neither queued nor under way here. The first call starts the threads, after any fork."""
        with self._news:
            if self._stopped or run_id in self._known:
                return
            self._known.add(run_id)
            self._waiting[queue].append(run_id)
            if len(self._threads) < self._workers:
                self._threads.append(threading.Thread(target=self._work, name="run", daemon=True))
                self._threads[-1].start()
            self._news.notify()

    def resubmit_after(self, queue: str) -> float:
        """The process that stored the run is about to begin it, or is gone and its queue with it."""
        return RESUBMIT_SECONDS

    def stop(self, wait: float = 0.0) -> None:
        """Drop what is queued. What is under way ends when it finds that its lease is gone."""
        with self._news:
            self._stopped = True
            for waiting in self._waiting.values():
                waiting.clear()
            self._news.notify_all()
        deadline = time.monotonic() + wait
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (run_id := self._next()) is not None:
            try:
                self.carry_out(run_id)
            except BaseException:  # not even a library's sys.exit may take the thread from the other runs
                log.exception("run %s was left", run_id)
            finally:
                with self._news:
                    self._known.discard(run_id)

    def _next(self) -> str | None:
        """The run whose turn it is; waits for one. None once stopped."""
        with self._news:
            self._news.wait_for(lambda: any(self._waiting.values()) or self._stopped)
            return None if self._stopped else next(filter(None, self._waiting.values())).popleft()
