"""Who carries a run out: whoever holds its lease.

A lease has an epoch. Taking it, letting it go and seizing it each begin a new one, and the event log appends nothing
for an epoch that is over: a process that was held up, or that was told to leave, can do no harm when it comes back. A
lease lapses unless its holder renews it, so the runs of a process that died are free about LEASE_SECONDS later: once
somebody who watches has missed its renewals for so long (lapsing.py). `leased_until` is for operators to read.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Update, and_, func, not_, select, tuple_, update
from sqlalchemy.orm import Session, sessionmaker

from app.reasoning.errors import HopcheckError
from app.runs.clock import SteadyClock, database_now
from app.runs.connections import engine_of, turn
from app.runs.jobs import PEOPLE
from app.runs.lapsing import LeaseWatch
from app.runs.tables import RUNNING, EventRow, RunRow

log = logging.getLogger(__name__)

LEASE_SECONDS = 15.0
RENEW_SECONDS = 4.0
"""Three renewals in a row may go wrong before a lease lapses."""

MOST_NAMED = 300
"""So many free runs are named at a time: after a while without workers there may be more than a sweep has time for."""


class LeaseLost(HopcheckError):
    """The run is carried out by someone else now, or waits for someone to take it up: the writer stops quietly."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to carry a run out, until its epoch is over. `cut_offs`: so many holders were lost before this one.

    `clock` tells when its holder's events happened: no earlier than those before it, and evenly from then on.
    """

    run_id: str
    epoch: int
    cut_offs: int = 0
    clock: SteadyClock = field(default_factory=lambda: SteadyClock(datetime.now(UTC)), compare=False, repr=False)


class Leases:
    """The leases of one database. One thread renews those that this process holds, from the first one on."""

    def __init__(
        self, sessions: sessionmaker[Session], seconds: float = LEASE_SECONDS, renew_seconds: float = RENEW_SECONDS
    ) -> None:
        self._sessions = sessions
        self._seconds = seconds
        self._renew_seconds = renew_seconds
        self._lock = threading.Lock()
        self._held: set[Lease] = set()
        self._beat: threading.Thread | None = None
        self._leaving = threading.Event()
        self._letting_go = threading.RLock()
        self._watch = LeaseWatch(sessions, seconds, renew_seconds)

    def take(self, run_id: str) -> Lease | None:
        """The lease of an unfinished run that nobody holds, or None."""
        taken = (
            update(RunRow)
            .where(RunRow.id == run_id, RunRow.state == RUNNING, is_free())
            .values(
                epoch=RunRow.epoch + 1,
                holder=_own_name(),
                leased_until=database_now(self._seconds),
                began_at=func.coalesce(RunRow.began_at, database_now()),
            )
        )
        lease = self._begin_epoch(run_id, taken)
        if lease is None:
            return None
        with self._lock:
            self._held.add(lease)
            if self._beat is None:
                self._beat = threading.Thread(target=self._renew_for_ever, name="leases", daemon=True)
                self._beat.start()
        if self._leaving.is_set():
            self.let_go()
            return None
        return lease

    def seize(self, run_id: str) -> Lease | None:
        """The lease of an unfinished run, whoever held it, for one last word; it is not renewed.

        It is held meanwhile, so that nobody who looks for free runs takes it before the word is said.
        """
        seized = (
            update(RunRow)
            .where(RunRow.id == run_id, RunRow.state == RUNNING)
            .values(epoch=RunRow.epoch + 1, holder=_own_name(), leased_until=database_now(self._seconds))
        )
        return self._begin_epoch(run_id, seized)

    def _begin_epoch(self, run_id: str, statement: Update) -> Lease | None:
        with turn(engine_of(self._sessions)), self._sessions.begin() as session:
            begun = statement.returning(RunRow.epoch, RunRow.cut_offs, database_now().label("now"))
            row = session.execute(begun).one_or_none()
            if row is None:
                return None
            latest = session.scalar(select(func.max(EventRow.at)).where(EventRow.run_id == run_id))
        return Lease(run_id, row.epoch, row.cut_offs, SteadyClock(max(row.now, latest or row.now)))

    def end_lapsed(self) -> tuple[str, ...]:
        """Free the runs whose holders have not renewed for too long; the runs. Each counts as cut off once more."""
        return self._watch.end_lapsed()

    def drop(self, lease: Lease) -> None:
        """Renew this one no longer: its run has ended, or is left to lapse."""
        with self._lock:
            self._held.discard(lease)

    def leave(self) -> None:
        """Let go of everything and take nothing more: this process is about to end."""
        self._leaving.set()
        self.let_go()

    def let_go(self) -> None:
        """End the epoch of every lease held: the runs are free at once, and what is still appended is refused.

        Whoever comes second waits for the first: a process that ended in between would keep its leases.
        """
        with self._letting_go:
            if held := self._take_out():
                self._free(held)

    def give_back(self, lease: Lease) -> None:
        """End this lease's epoch: its run is free at once, for somebody else."""
        self.drop(lease)
        self._free([lease])

    def _free(self, held: list[Lease]) -> None:
        freed = {"epoch": RunRow.epoch + 1, "holder": None, "leased_until": None}
        with self._sessions.begin() as session:
            session.execute(update(RunRow).where(_is_one_of(held), RunRow.state == RUNNING).values(**freed))

    def renew(self) -> None:
        """Put off the end of every lease held. Those that were lost in the meantime stay lost."""
        with self._lock:
            held = list(self._held)
        if held:
            with self._sessions.begin() as session:
                session.execute(
                    update(RunRow)
                    .where(_is_one_of(held), RunRow.state == RUNNING)
                    .values(leased_until=database_now(self._seconds))
                )

    def free(self, grace_seconds: float = 0.0, queue: str | None = None) -> tuple[str, ...]:
        """The unfinished runs that nobody carries out, oldest first; some hundreds at most, and of one queue or both.

        New ones are left out for `grace_seconds`: the process that stored them is about to take them. One from the
        future is not new: the clock was set back.
        """
        queued = () if queue is None else (in_queue(queue),)
        is_young = RunRow.created_at.between(database_now(-grace_seconds), database_now())
        with self._sessions() as session:
            return tuple(
                session.scalars(
                    select(RunRow.id)
                    .where(RunRow.state == RUNNING, is_free(), not_(and_(RunRow.epoch == 0, is_young)), *queued)
                    .order_by(RunRow.created_at, RunRow.id)
                    .limit(MOST_NAMED)
                )
            )

    def _take_out(self) -> list[Lease]:
        with self._lock:
            held, self._held = list(self._held), set()
        return held

    def _renew_for_ever(self) -> None:
        well = True
        while not self._leaving.wait(self._renew_seconds):
            try:
                self.renew()
                well = True
            except Exception as error:  # a locked database, a full disk: the next renewal may work
                if well:
                    foreseen = isinstance(error, HopcheckError)
                    log.warning("leases could not be renewed: %s", error, exc_info=not foreseen)
                well = False


def is_free():
    """The condition that nobody holds the lease of a run: it was never taken, was let go of, or has lapsed."""
    return RunRow.leased_until.is_(None)


def in_queue(queue: str):
    """The condition that a run waits in that queue."""
    return RunRow.batch.is_(None) if queue == PEOPLE else RunRow.batch.is_not(None)


def _is_one_of(leases: list[Lease]):
    """The condition that a row is one of these runs, in the very epoch of its lease."""
    return and_(tuple_(RunRow.id, RunRow.epoch).in_([(lease.run_id, lease.epoch) for lease in leases]))


def _own_name() -> str:
    """Who this is, for an operator who looks into the table. Asked for after any fork."""
    return f"{socket.gethostname()[:48]}:{os.getpid()}"
