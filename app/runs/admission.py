"""Who gets in, and who waits how long: counted in the database, so that all servers on it agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import Annotated

from pydantic import Field
from sqlalchemy import and_, bindparam, func, or_, select
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import HopcheckError
from app.runs.budget import Limits, Spending
from app.runs.jobs import PEOPLE
from app.runs.leases import in_queue, is_free
from app.runs.models import RUNNING, RunRow

RECENT_RUNS = 20
"""So many finished runs say how long one takes."""

DEFAULT_RETRY_SECONDS = 30
"""When to come back while no run has finished yet."""

ADVISORY_LOCK_ID = 0x486F70636865636B
"""The name of PostgreSQL's lock that lets one in at a time ("Hopcheck" in ASCII)."""

_runs = RunRow.__table__.c
# Built once, for every quiet reader asks it every second.
_WAITS = select(_runs.created_at, _runs.batch).where(_runs.id == bindparam("run"), _runs.state == RUNNING, is_free())


class Rejected(HopcheckError):
    """No run is started now. The message says why; `retry_after` is when it may be otherwise, in seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class QueueFull(Rejected):
    """As many runs wait for their turn as may."""


class DailyLimitReached(Rejected):
    """The site has spent in a day what it may."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a waiting run is in the queue."""

    position: Annotated[int, Field(ge=1)]
    """1 is next."""
    seconds: Annotated[int, Field(ge=0)] | None
    """Until its turn; null if not known."""


class Admission:
    """The door of one database, for a process that carries out `workers` runs at once and lets `most` wait."""

    def __init__(self, sessions: sessionmaker[Session], workers: int, most: int, limits: Limits) -> None:
        self._sessions = sessions
        self._workers = workers
        self._most = most
        self._limits = limits
        self._spending = Spending(sessions)
        self._clients: dict[str, str] = {}
        """Which client started each run that waits. Not stored, so each process knows its own clients only."""

    def check_day(self) -> None:
        """Raises DailyLimitReached when a limit of the day is reached: a new run could only say so."""
        if reached := self._limits.reached_by_day(self._spending.today):
            message = f"This site's limit of {reached} a day is reached. It opens again at midnight UTC."
            raise DailyLimitReached(message, math.ceil(self._spending.seconds_to_midnight()))

    def admit(self, session: Session, run_id: str, client: str = "") -> None:
        """Raise QueueFull when the run that `session` has just written exceeds the queue or `client`'s half of it.

        Runs that a worker is about to take do not count as waiting, nor do those of batches. One is counted at a time,
        until it is committed, so those that start in the same instant see each other.
        """
        if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer at a time
            session.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK_ID)))
        others = (RunRow.state == RUNNING, in_queue(PEOPLE), RunRow.id != run_id)
        unfinished = session.execute(select(RunRow.id, is_free().label("is_free")).where(*others)).all()
        waiting = {run.id for run in unfinished if run.is_free}
        self._clients = {each: name for each, name in self._clients.items() if each in waiting}
        if self._has_half(client):
            raise QueueFull("Too many of your checks wait for their turn already.", self._retry_after(session))
        if len(unfinished) >= self._most + max(len(unfinished) - len(waiting), self._workers):
            raise QueueFull("Too many checks wait for their turn already.", self._retry_after(session))
        if client:
            self._clients[run_id] = client

    def place(self, run_id: str) -> Place | None:
        """Where the run stands, or None when it is not waiting. People's runs are before those of batches."""
        with self._sessions() as session:
            own = session.execute(_WAITS, {"run": run_id}).one_or_none()
            if own is None:
                return None
            earlier = or_(
                RunRow.created_at < own.created_at, and_(RunRow.created_at == own.created_at, RunRow.id < run_id)
            )
            sooner = and_(in_queue(PEOPLE), earlier) if own.batch is None else or_(in_queue(PEOPLE), earlier)
            before = session.scalar(select(func.count()).where(RunRow.state == RUNNING, is_free(), sooner)) or 0
            seconds = self._seconds_of_a_turn(session)
        return Place(before + 1, None if seconds is None else math.ceil(seconds * (before + 1)))

    def _has_half(self, client: str) -> bool:
        """Whether `client` has half of the places. A queue of one place is not divided."""
        return self._most > 1 and list(self._clients.values()).count(client) >= self._most // 2

    def _retry_after(self, session: Session) -> int:
        turn = self._seconds_of_a_turn(session)
        return max(1, math.ceil(DEFAULT_RETRY_SECONDS if turn is None else turn))

    def _seconds_of_a_turn(self, session: Session) -> float | None:
        """How often a worker becomes free: the median of recent runs, shared by this process's workers."""
        recent = session.execute(
            select(RunRow.began_at, RunRow.ended_at)
            .where(RunRow.state == "verdict", RunRow.began_at.is_not(None))
            .order_by(RunRow.ended_at.desc())
            .limit(RECENT_RUNS)
        ).all()
        if not recent:
            return None
        return median((row.ended_at - row.began_at).total_seconds() for row in recent) / self._workers
