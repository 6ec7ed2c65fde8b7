"""Leases on runs: the process that holds a run's lease carries it out.

Acquiring, releasing, stealing and expiring a lease each begin a new epoch. The event store refuses appends of earlier
epochs, so a process that was suspended or shut down cannot append later. A lease expires when a process that watches it
has seen no renewal for LEASE_SECONDS. `leased_until` is NULL for a free run and changes at each renewal; its time is
for operators.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, not_, select, tuple_, update
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import HopcheckError
from app.runs.db import MonotonicClock, changes_row, database_now, engine_of, write_lock
from app.runs.models import PEOPLE, RUNNING, EventRow, RunRow

log = logging.getLogger(__name__)

LEASE_SECONDS = 15.0
RENEW_SECONDS = 4.0
"""A lease survives two failed renewals in a row."""

MAX_FREE_RUNS = 300
"""Free runs that are returned at a time; after an outage of the workers there may be many more."""


class LeaseLost(HopcheckError):
    """The run is carried out by another process or free again. Its former holder stops without an error."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to carry out a run, until its epoch is over."""

    run_id: str
    epoch: int
    lost_leases: int = 0
    """The number of leases of the run that expired."""
    clock: MonotonicClock = field(default_factory=lambda: MonotonicClock(datetime.now(UTC)), compare=False, repr=False)
    """The time of the holder's events, which is never before that of earlier events."""


_Renewal = tuple[str, int, datetime]
"""A run, the epoch of its lease, and the `leased_until` of its last renewal."""


class Leases:
    """The leases of one database. A thread renews those that this process holds.

    Leases that were not renewed for `seconds` expire, measured with the monotonic clock of each process that looks for
    them, not with the database's: set forward, that would expire the leases of live holders, and set back, keep those
    of dead ones. Several processes may look; each lease is expired by one of them.
    """

    def __init__(
        self,
        sessions: sessionmaker[Session],
        seconds: float = LEASE_SECONDS,
        renew_seconds: float = RENEW_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._seconds = seconds
        self._renew_seconds = renew_seconds
        self._lock = threading.Lock()
        self._held: set[Lease] = set()
        self._renewing: threading.Thread | None = None
        self._shutting_down = threading.Event()
        self._releasing = threading.RLock()  # a signal's handler may release in the middle of a release
        self._clock = clock
        self._checked_at = clock()
        self._seconds_unchanged: dict[_Renewal, float] = {}

    def acquire(self, run_id: str) -> Lease | None:
        """Return the lease of an unfinished run that is free, or None."""
        lease = self._begin_epoch(run_id, is_free(), began_at=func.coalesce(RunRow.began_at, database_now()))
        if lease is None:
            return None
        with self._lock:
            self._held.add(lease)
            if self._renewing is None:
                self._renewing = threading.Thread(target=self._renew_repeatedly, name="leases", daemon=True)
                self._renewing.start()
        if self._shutting_down.is_set():  # its release may have come before this lease was added
            self.release_all()
            return None
        return lease

    def steal(self, run_id: str) -> Lease | None:
        """Return the lease of an unfinished run, held or not, for appending a terminal event. It is not renewed.

        Until it expires no other process can acquire the run.
        """
        return self._begin_epoch(run_id)

    def _begin_epoch(self, run_id: str, *conditions: ColumnElement[bool], **values: Any) -> Lease | None:
        begun = update(RunRow).where(RunRow.id == run_id, RunRow.state == RUNNING, *conditions)
        lease = {"epoch": RunRow.epoch + 1, "holder": _holder_name(), "leased_until": database_now(self._seconds)}
        returning = (RunRow.epoch, RunRow.cut_offs, database_now().label("now"))
        with write_lock(engine_of(self._sessions)), self._sessions.begin() as session:
            row = session.execute(begun.values(**lease, **values).returning(*returning)).one_or_none()
            if row is None:
                return None
            latest = session.scalar(select(func.max(EventRow.at)).where(EventRow.run_id == run_id))
        return Lease(run_id, row.epoch, row.cut_offs, MonotonicClock(max(row.now, latest or row.now)))

    def expire_stale(self) -> tuple[str, ...]:
        """Expire the leases that were not renewed in time; return their runs, which are free now.

        The time between two checks counts as one missed renewal at most, so that after an outage of the database or a
        suspension of the machine the holders have time to renew.
        """
        # The time that reading the renewals takes is not counted, so that no lease expires too early.
        passed = min(self._clock() - self._checked_at, self._renew_seconds)
        renewals = self._current_renewals()
        self._checked_at = self._clock()
        known = self._seconds_unchanged
        self._seconds_unchanged = {each: known[each] + passed if each in known else 0.0 for each in renewals}
        stale = [each for each, seconds in self._seconds_unchanged.items() if seconds >= self._seconds]
        return tuple(run_id for run_id, *_ in filter(self._expire, stale))

    def _current_renewals(self) -> list[_Renewal]:
        held = select(RunRow.id, RunRow.epoch, RunRow.leased_until)
        with self._sessions() as session:
            rows = session.execute(held.where(RunRow.state == RUNNING, RunRow.leased_until.is_not(None)))
            return [(row.id, row.epoch, row.leased_until) for row in rows if row.leased_until is not None]

    def _expire(self, stale: _Renewal) -> bool:
        """End this lease, unless it was renewed or ended in the meantime."""
        run_id, epoch, until = stale
        unchanged = (RunRow.id == run_id, RunRow.state == RUNNING, RunRow.epoch == epoch, RunRow.leased_until == until)
        freed = {"epoch": RunRow.epoch + 1, "holder": None, "leased_until": None, "cut_offs": RunRow.cut_offs + 1}
        return changes_row(self._sessions, update(RunRow).where(*unchanged).values(**freed))

    def stop_renewing(self, lease: Lease) -> None:
        """Stop renewing this lease, because its run has ended or another process should take the run over."""
        with self._lock:
            self._held.discard(lease)

    def shutdown(self) -> None:
        """Release all leases and acquire no more: this process is about to end."""
        self._shutting_down.set()
        self.release_all()

    def release_all(self) -> None:
        """Release every lease held: the runs are free at once, and later appends are refused.

        A caller in another thread waits for the first: the process must not exit before all leases are released.
        """
        with self._releasing:
            with self._lock:
                held, self._held = list(self._held), set()
            if held:
                self._free(held)

    def release(self, lease: Lease) -> None:
        """Release this lease: its run is free at once for another process."""
        self.stop_renewing(lease)
        self._free([lease])

    def _free(self, held: list[Lease]) -> None:
        self._update(held, epoch=RunRow.epoch + 1, holder=None, leased_until=None)

    def _update(self, held: list[Lease], **values: Any) -> None:
        """Change the rows of these runs, except those whose lease was lost in the meantime."""
        leases = [(lease.run_id, lease.epoch) for lease in held]
        valid = (tuple_(RunRow.id, RunRow.epoch).in_(leases), RunRow.state == RUNNING)
        with self._sessions.begin() as session:
            session.execute(update(RunRow).where(*valid).values(**values))

    def renew(self) -> None:
        """Renew every lease held, except those that were lost in the meantime."""
        with self._lock:
            held = list(self._held)
        if held:
            self._update(held, leased_until=database_now(self._seconds))

    def free_runs(self, grace_seconds: float = 0.0, queue: str | None = None) -> tuple[str, ...]:
        """Return at most MAX_FREE_RUNS unfinished runs without a holder, oldest first, of one queue or both.

        A run that never had a holder is left out for `grace_seconds` after its creation, because it was just queued. A
        run whose creation time is in the future, because the clock was set back, is not left out.
        """
        of_queue = () if queue is None else (in_queue(queue),)
        is_young = RunRow.created_at.between(database_now(-grace_seconds), database_now())
        with self._sessions() as session:
            return tuple(
                session.scalars(
                    select(RunRow.id)
                    .where(RunRow.state == RUNNING, is_free(), not_(and_(RunRow.epoch == 0, is_young)), *of_queue)
                    .order_by(RunRow.created_at, RunRow.id)
                    .limit(MAX_FREE_RUNS)
                )
            )

    def _renew_repeatedly(self) -> None:
        has_failed = False
        while not self._shutting_down.wait(self._renew_seconds):
            try:
                self.renew()
                has_failed = False
            except Exception as error:  # a locked database, a full disk: the next renewal may work
                if not has_failed:
                    is_expected = isinstance(error, HopcheckError)
                    log.warning("leases could not be renewed: %s", error, exc_info=not is_expected)
                has_failed = True


def is_free() -> ColumnElement[bool]:
    """Return the condition that a run has no holder: its lease was never acquired, was released, or has expired."""
    return RunRow.leased_until.is_(None)


def in_queue(queue: str) -> ColumnElement[bool]:
    return RunRow.batch.is_(None) if queue == PEOPLE else RunRow.batch.is_not(None)


def _holder_name() -> str:
    """Return host and process id, for operators. Called at each lease, since a fork changes the id."""
    return f"{socket.gethostname()[:48]}:{os.getpid()}"
