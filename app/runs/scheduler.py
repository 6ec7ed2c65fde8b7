"""Periodic work on one database: expire leases, requeue orphaned runs, feed batches, delete expired runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import HopcheckError
from app.runs.db import database_now
from app.runs.jobs import QUEUES, JobRunner
from app.runs.leases import Leases
from app.runs.lifecycle import PURGE_LIMIT, Deletion
from app.runs.models import RUNNING, RunRow

log = logging.getLogger(__name__)

TICK_SECONDS = 2.0
DAY_SECONDS = 86_400.0


class Scheduler:
    """Does the periodic work every `tick_seconds`. Several processes may schedule the runs of one database."""

    def __init__(
        self,
        leases: Leases,
        jobs: JobRunner,
        tick_seconds: float = TICK_SECONDS,
        purge: Callable[[], object] = tuple,
        feed: Callable[[], object] = tuple,
    ) -> None:
        """Call `purge` and `feed` at every tick; the default `tuple` does nothing."""
        self._leases = leases
        self._jobs = jobs
        self._tick_seconds = tick_seconds
        self._purge = purge
        self._feed = feed
        self._stopped = threading.Event()

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
        self._feed()
        self._purge()

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


class Retention:
    """Purges unpublished runs that ended more than `days` ago; 0 keeps all."""

    def __init__(self, sessions: sessionmaker[Session], deletion: Deletion, days: int = 0) -> None:
        self._sessions = sessions
        self._deletion = deletion
        self._days = days

    def apply(self) -> tuple[str, ...]:
        """Purge up to PURGE_LIMIT of the expired runs; return their ids."""
        return self._deletion.purge_where(_ended_before(self._days), PURGE_LIMIT) if self._days else ()

    def count(self, days: int) -> int:
        """Return the number of runs that `purge` would delete."""
        with self._sessions() as session:
            return session.scalar(select(func.count()).select_from(RunRow).where(_ended_before(days))) or 0

    def purge(self, days: int) -> int:
        """Purge every unpublished run that ended more than `days` ago; return their number."""
        return len(self._deletion.purge_where(_ended_before(days)))


def _ended_before(days: int) -> ColumnElement[bool]:
    is_old = RunRow.ended_at < database_now(-days * DAY_SECONDS)
    return and_(RunRow.state != RUNNING, is_old, RunRow.published_at.is_(None))
