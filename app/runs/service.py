"""What everybody else needs of runs: start one, read one, list some, follow one."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from app.reasoning.events import PhaseEntered, RunInterrupted, RunStarted
from app.reasoning.report import Report, fold
from app.reasoning.roles import Strategy
from app.reasoning.types import Claim, Label, RunOptions
from app.runs.event_log import EventLog, RunEnded, StoredEvent
from app.runs.jobs import JobRunner
from app.runs.processes import Processes
from app.runs.runner import Runner, StopSignal
from app.runs.tables import RUNNING, RunRow

__all__ = ["RunSummary", "Runs", "StoredEvent", "StoredRun"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it stands: its report folds the events up to number `last_seq`."""

    id: str
    owner: str
    created_at: datetime
    last_seq: int
    report: Report


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in a list. `state` is "running", "verdict", "failed" or "interrupted"."""

    id: str
    claim: str
    label: Label | None
    state: str
    created_at: datetime


class Runs:
    """The runs of one database, and those of them that this process carries out."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        jobs: JobRunner,
        strategy_for: Callable[[RunOptions], Strategy],
    ) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._control = StopSignal()
        self._events = EventLog(sessions)
        self._runner = Runner(self._events, strategy_for, self._control)
        with sessions() as session:
            self._processes = Processes.beside(session.get_bind().engine.url)

    def start(self, claim: Claim, options: RunOptions, owner: str) -> str:
        """Store a new run, queue its job, and return its id: 128 random bits, safe in a URL."""
        run_id = secrets.token_urlsafe(16)
        self._events.begin(run_id, owner, self._processes.own_name(), RunStarted(claim, options))
        self._events.append(run_id, PhaseEntered("waiting for its turn"))
        try:
            self._jobs.submit(run_id, lambda: self._runner.carry_out(run_id, claim, options))
        except RuntimeError:
            log.exception("run %s could not be queued", run_id)
            self._events.append(run_id, RunInterrupted("Hopcheck was shutting down when this run was asked for."))
        return run_id

    def report(self, run_id: str) -> StoredRun | None:
        """The run as it stands now, or None where there is none."""
        with self._sessions() as session:
            row = session.get(RunRow, run_id)
            if row is None:
                return None
            owner, created_at = row.owner, row.created_at
        events = self._events.read(run_id)
        report = fold((stored.event, stored.seconds) for stored in events)
        return StoredRun(run_id, owner, created_at, events[-1].seq, report)

    def recent(self, owner: str, limit: int = 20) -> tuple[RunSummary, ...]:
        """The owner's newest runs, newest first."""
        with self._sessions() as session:
            rows = session.scalars(
                select(RunRow).where(RunRow.owner == owner).order_by(RunRow.created_at.desc(), RunRow.id).limit(limit)
            ).all()
            return tuple(
                RunSummary(row.id, row.claim, Label(row.label) if row.label else None, row.state, row.created_at)
                for row in rows
            )

    def follow(self, run_id: str, after: int, wait: float) -> tuple[StoredEvent, ...]:
        """The events numbered above `after`; waits up to `wait` seconds for some, holding no session meanwhile.

        Returns () at once when no more can come.
        """
        return self._events.follow(run_id, after, wait)

    def recover(self) -> int:
        """End the runs whose process died, and say how many; those of living processes are left alone."""
        with self._sessions() as session:
            unfinished = session.execute(select(RunRow.id, RunRow.process).where(RunRow.state == RUNNING)).all()
        dead = {name for name in {row.process for row in unfinished} if self._processes.is_dead(name)}
        ended = 0
        for run_id in (row.id for row in unfinished if row.process in dead):
            try:
                self._events.append(run_id, RunInterrupted("Hopcheck was restarted while this run was going on."))
            except RunEnded:  # another process recovers at the same time
                continue
            log.warning("run %s was left unfinished by a process that died", run_id)
            ended += 1
        return ended

    def stop(self) -> None:
        """Shut down: every run ends at its next step, queued ones at once; blocks until they have."""
        self._control.stop()
        self._jobs.stop()
