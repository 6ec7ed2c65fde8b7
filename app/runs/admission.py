"""Admit new runs to the queue of the database, and find a run's place in it.

Run ids are random, or derived from the submitted form, so that a form sent twice (by a double click) starts one run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Annotated

from pydantic import Field
from sqlalchemy import and_, bindparam, func, not_, or_, select
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import HopcheckError
from app.domain.events import Event, Reported, TokensUsed
from app.domain.instrumentation import listening
from app.domain.messages import Words
from app.runs.budget import Limits, Spending
from app.runs.event_store import encode
from app.runs.leases import in_queue, is_free
from app.runs.models import PEOPLE, RUNNING, RunRow

ID_BITS = 128


def new_id() -> str:
    """Return a new id of ID_BITS random bits, safe in a URL."""
    return secrets.token_urlsafe(ID_BITS // 8)


def is_invalid_id(text: str) -> bool:
    """Return whether the id contains a NUL character, which PostgreSQL refuses in queries."""
    return "\0" in text


def id_for_form(owner: str, form: str, first_events: Sequence[Event]) -> str:
    """Return the id of the run that `owner` starts by sending a form; the same content gets the same id again.

    It is as hard to guess as a new one, because one of `owner` and `form` is secret: a cookie's random name, or for
    the owner of an API token a signature made with SECRET_KEY. The first events depend on the content of the form, so
    a changed form gets another id.
    """
    content = json.dumps([owner, form, *map(encode, first_events)], sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(content.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest[: ID_BITS // 8]).rstrip(b"=").decode("ascii")


RECENT_RUNS = 20
"""Number of finished runs from which the duration of one is estimated."""

DEFAULT_RETRY_SECONDS = 30
"""Retry-After while no run has finished yet."""

ADVISORY_LOCK_ID = 0x486F70636865636B
"""The PostgreSQL lock under which runs are admitted one at a time ("Hopcheck" in ASCII)."""

_runs = RunRow.__table__.c
# A constant, because every follower of a waiting run executes it each second.
_SELECT_WAITING = select(_runs.created_at, _runs.batch).where(
    _runs.id == bindparam("run"), _runs.state == RUNNING, is_free()
)


class Rejected(HopcheckError):
    """No run can be started now; the message gives the reason."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after  # seconds


class QueueFull(Rejected):
    """The queue, or the client's half of it, is full."""


class DailyLimitReached(Rejected):
    """The site has reached a daily limit."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a waiting run in the queue."""

    position: Annotated[int, Field(ge=1)]
    """1 is next."""
    seconds: Annotated[int, Field(ge=0)] | None
    """Estimated seconds until its turn; null if not known."""
    has_worker: bool = True
    """False while no worker is running, so that no run's turn comes."""


class Admission:
    """Limits the queue of one database to `max_waiting` runs, besides one for each idle worker."""

    def __init__(self, sessions: sessionmaker[Session], workers: int, max_waiting: int, limits: Limits) -> None:
        self._sessions = sessions
        self._workers = workers
        self._max_waiting = max_waiting
        self._limits = limits
        self._spending = Spending(sessions)
        self._clients: dict[str, str] = {}
        """The client of each waiting run. Kept in memory only, so a process does not see the clients of others."""

    def check_day(self) -> None:
        """Raise DailyLimitReached if a daily limit of the site is reached."""
        if reached := self._limits.reached_by_day(self._spending.today):
            message = Words("{reached} It opens again at midnight UTC.", reached=reached)
            raise DailyLimitReached(message, math.ceil(self._spending.seconds_to_midnight()))

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the model calls of the block, which belong to no run, in the day's sum. Raises DailyLimitReached."""
        self.check_day()

        def listen(event: Reported) -> None:
            if isinstance(event, TokensUsed):
                self._spending.add(event.usage)

        with listening(listen):
            yield

    def admit(self, session: Session, run_id: str, client: str = "") -> None:
        """Raise QueueFull if the run, just written in `session`, exceeds the queue or the half of it for one client.

        Runs of batches do not count as waiting, nor does one run for each idle worker. Admissions are serialised until
        the commit, so simultaneous ones see each other.
        """
        if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer at a time
            session.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK_ID)))
        others = (RunRow.state == RUNNING, in_queue(PEOPLE), RunRow.id != run_id)
        unfinished = session.execute(select(RunRow.id, is_free().label("is_free")).where(*others)).all()
        waiting = {run.id for run in unfinished if run.is_free}
        self._clients = {each: name for each, name in self._clients.items() if each in waiting}
        if self._has_half(client):
            raise QueueFull(Words("Too many of your checks wait for their turn already."), self._retry_after(session))
        idle_workers = max(0, self._workers - (len(unfinished) - len(waiting)))
        if len(waiting) >= self._max_waiting + idle_workers:
            raise QueueFull(Words("Too many checks wait for their turn already."), self._retry_after(session))
        if client:
            self._clients[run_id] = client

    def place(self, run_id: str) -> Place | None:
        """Return the run's place in the queue, None if it is not waiting. Runs of batches come last."""
        with self._sessions() as session:
            own = session.execute(_SELECT_WAITING, {"run": run_id}).one_or_none()
            if own is None:
                return None
            earlier = or_(
                RunRow.created_at < own.created_at, and_(RunRow.created_at == own.created_at, RunRow.id < run_id)
            )
            sooner = and_(in_queue(PEOPLE), earlier) if own.batch is None else or_(in_queue(PEOPLE), earlier)
            before = session.scalar(select(func.count()).where(RunRow.state == RUNNING, is_free(), sooner)) or 0
            seconds = self._seconds_per_turn(session)
        return Place(before + 1, None if seconds is None else math.ceil(seconds * (before + 1)))

    def _has_half(self, client: str) -> bool:
        """Return whether `client` occupies half of the queue. A queue of one place is not divided."""
        return self._max_waiting > 1 and list(self._clients.values()).count(client) >= self._max_waiting // 2

    def _retry_after(self, session: Session) -> int:
        turn = self._seconds_per_turn(session)
        return max(1, math.ceil(DEFAULT_RETRY_SECONDS if turn is None else turn))

    def _seconds_per_turn(self, session: Session) -> float | None:
        """Estimate how often a worker becomes free: the median duration of recent runs divided by the workers.

        The workers of other processes are known only by the runs that they carry out.
        """
        recent = session.execute(
            select(RunRow.began_at, RunRow.ended_at)
            .where(RunRow.state == "verdict", RunRow.began_at.is_not(None))
            .order_by(RunRow.ended_at.desc())
            .limit(RECENT_RUNS)
        ).all()
        if not recent:
            return None
        held = session.scalar(select(func.count()).where(RunRow.state == RUNNING, not_(is_free()))) or 0
        seconds = median((row.ended_at - row.began_at).total_seconds() for row in recent)
        return seconds / max(self._workers, held)
