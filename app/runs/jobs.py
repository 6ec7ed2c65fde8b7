"""The interface of job runners, and its implementation with threads of this process.

A job is the id of a run. The process that acquires the run's lease continues it after its last stored event.
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
"""In order of priority: runs that a person waits for come before those of batches."""

RESUBMIT_SECONDS = 5.0


class JobRunner(Protocol):
    """Carries out submitted runs in the background, several at once. Each queue is served in order of submission."""

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        """Queue the run. Submitting it again has no effect."""

    def resubmit_after(self, queue: str) -> float:
        """Return the seconds for which a new run may wait before the scheduler submits it again."""

    def workers(self) -> tuple[str, ...] | None:
        """Return the names of the workers that are alive; None where this process executes its runs.

        Raises HopcheckError when that cannot be found out.
        """

    def carry_out(self, run_id: str) -> None:
        """Carry out the run in this thread, unless its lease is held elsewhere."""

    def stop(self, wait: float = 0.0) -> None:
        """Start no more runs and wait up to `wait` seconds for those in progress. Queued ones stay in the database."""


class ThreadJobs:
    """Runs up to `workers` jobs at once, in threads.

    Uses daemon threads instead of a ThreadPoolExecutor, whose threads the interpreter joins at exit: a model call that
    takes minutes must not delay a shutdown.
    """

    def __init__(self, carry_out: Callable[[str], None], workers: int) -> None:
        self.carry_out = carry_out
        self._workers = workers
        self._threads: list[threading.Thread] = []
        self._waiting: dict[str, deque[str]] = {queue: deque() for queue in QUEUES}
        self._known: set[str] = set()
        self._changed = threading.Condition()
        self._stopped = False

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        """Queue the run unless it is queued or in progress here. The first runs start the threads, after any fork."""
        with self._changed:
            if self._stopped or run_id in self._known:
                return
            self._known.add(run_id)
            self._waiting[queue].append(run_id)
            if len(self._threads) < self._workers:
                self._threads.append(threading.Thread(target=self._work, name="run", daemon=True))
                self._threads[-1].start()
            self._changed.notify()

    def resubmit_after(self, queue: str) -> float:
        """Return a short time, because `submit` ignores runs that are queued here."""
        return RESUBMIT_SECONDS

    def workers(self) -> None:
        """Return None: the threads of this process execute the runs."""

    def stop(self, wait: float = 0.0) -> None:
        """Drop queued runs and wait for those in progress, which end when their lease was released."""
        with self._changed:
            self._stopped = True
            for waiting in self._waiting.values():
                waiting.clear()
            self._changed.notify_all()
        deadline = time.monotonic() + wait
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (run_id := self._next()) is not None:
            try:
                self.carry_out(run_id)
            except BaseException:  # even a library's sys.exit must not end the thread
                log.exception("run %s was abandoned", run_id, extra={"run": run_id})
            finally:
                with self._changed:
                    self._known.discard(run_id)

    def _next(self) -> str | None:
        """Wait for the next run and return it; None once stopped."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._waiting.values()) or self._stopped)
            return None if self._stopped else next(filter(None, self._waiting.values())).popleft()
