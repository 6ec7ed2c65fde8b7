"""The interface of job runners, its implementation with threads of this process, and the scheduler of periodic work.

A job is the id of a run. The process that acquires the run's lease continues it after its last stored event.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from app.domain.errors import HopcheckError
from app.runs.leases import Leases
from app.runs.models import PEOPLE, QUEUES

log = logging.getLogger(__name__)

RESUBMIT_SECONDS = 5.0
TICK_SECONDS = 2.0


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


class Scheduler:
    """Expires leases, requeues orphaned runs, and does other periodic work, every `tick_seconds`.

    Several processes may schedule the runs of one database.
    """

    def __init__(self, leases: Leases, jobs: JobRunner, tick_seconds: float = TICK_SECONDS) -> None:
        self._leases = leases
        self._jobs = jobs
        self._tick_seconds = tick_seconds
        self._others: list[Callable[[], object]] = []
        self._stopped = threading.Event()

    def also(self, *work: Callable[[], object]) -> None:
        """Do this at every tick, too."""
        self._others += work

    def start(self) -> None:
        """Start a thread that does the periodic work, for the first time now."""
        threading.Thread(target=self._run, name="scheduler", daemon=True).start()

    def stop(self) -> None:
        """End the thread after the current tick."""
        self._stopped.set()

    def tick(self) -> None:
        """Do the periodic work once."""
        self._leases.expire_stale()
        self._requeue_orphans()
        for each in self._others:
            each()

    def _requeue_orphans(self) -> None:
        """Submit unfinished runs without a holder again; those of batches come last."""
        for queue in QUEUES:
            for run_id in self._leases.free_runs(self._jobs.resubmit_after(queue), queue):
                self._jobs.submit(run_id, queue)

    def _run(self) -> None:
        has_failed = False
        while not self._stopped.is_set():
            try:
                self.tick()
                has_failed = False
            except Exception as error:  # a locked database, a table not yet there: the next tick may work
                if not has_failed:
                    is_expected = isinstance(error, HopcheckError)
                    log.warning("periodic work failed: %s", error, exc_info=not is_expected)
                has_failed = True
            self._stopped.wait(self._tick_seconds)
