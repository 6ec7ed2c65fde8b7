"""The append-only event log: one event, one commit; whoever follows a run is woken by it.

A follower holds no session while it waits. Events of this process wake it at once; those of another process sharing
the database are found by looking again every POLL_SECONDS.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.reasoning.errors import HopcheckError
from app.reasoning.events import SCHEMA_VERSION, TERMINAL, Event, RunFailed, RunStarted, VerdictReached
from app.runs.codec import decode, encode, encode_options
from app.runs.tables import RUNNING, EventRow, RunRow

POLL_SECONDS = 0.5


class RunEnded(HopcheckError):
    """The run has had its last event, or is not there: its log takes nothing more."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event with its number in the run, from 1, and the seconds since the run's start."""

    seq: int
    seconds: float
    event: Event


class EventLog:
    """The log of all runs in one database. Safe to share between threads."""

    def __init__(self, sessions: sessionmaker[Session], poll_seconds: float = POLL_SECONDS) -> None:
        self._sessions = sessions
        self._poll_seconds = poll_seconds
        self._news = threading.Condition()
        self._appended = 0

    def begin(self, run_id: str, owner: str, process: str, started: RunStarted) -> None:
        """Commit a new run's row together with its first event."""
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            session.execute(
                insert(RunRow).values(
                    id=run_id,
                    owner=owner,
                    claim=started.claim.text,
                    options=encode_options(started.options),
                    created_at=now,
                    process=process,
                    last_seq=1,
                )
            )
            _insert(session, run_id, 1, now, started)
        self._announce()

    def append(self, run_id: str, event: Event) -> int:
        """Commit one more event and return its number. Raises RunEnded after a terminal event.

        Counting up first takes the write lock before anything is read, so that two writers, in threads or processes,
        never take the same number, and nothing slips in behind a terminal event.
        """
        now = datetime.now(UTC)
        with self._sessions.begin() as session:
            seq = session.scalar(
                update(RunRow)
                .where(RunRow.id == run_id, RunRow.state == RUNNING)
                .values(last_seq=RunRow.last_seq + 1, **_summary(event, now))
                .returning(RunRow.last_seq)
            )
            if seq is None:
                raise RunEnded(f"run {run_id} takes no more events")
            _insert(session, run_id, seq, now, event)
        self._announce()
        return seq

    def read(self, run_id: str, after: int = 0) -> tuple[StoredEvent, ...]:
        """The events with a number above `after`, in order."""
        with self._sessions() as session:
            rows = session.execute(
                select(EventRow.seq, EventRow.at, EventRow.version, EventRow.body, RunRow.created_at)
                .join(RunRow, RunRow.id == EventRow.run_id)
                .where(EventRow.run_id == run_id, EventRow.seq > after)
                .order_by(EventRow.seq)
            ).all()
        return tuple(
            StoredEvent(row.seq, (row.at - row.created_at).total_seconds(), decode(row.body, row.version))
            for row in rows
        )

    def follow(self, run_id: str, after: int, wait: float) -> tuple[StoredEvent, ...]:
        """As `read`, but when there is nothing yet, wait up to `wait` seconds for it.

        Returns () early when nothing can come any more: the run has ended, or is not there.
        """
        deadline = time.monotonic() + wait
        while True:
            with self._news:
                seen = self._appended
            # In this order: what is committed between the two looks is then found by the second.
            running = self._is_running(run_id)
            events = self.read(run_id, after)
            left = deadline - time.monotonic()
            if events or not running or left <= 0:
                return events
            with self._news:
                if self._appended == seen:
                    self._news.wait(min(left, self._poll_seconds))

    def _is_running(self, run_id: str) -> bool:
        with self._sessions() as session:
            return session.scalar(select(RunRow.state).where(RunRow.id == run_id)) == RUNNING

    def _announce(self) -> None:
        with self._news:
            self._appended += 1
            self._news.notify_all()


def _insert(session: Session, run_id: str, seq: int, at: datetime, event: Event) -> None:
    session.execute(
        insert(EventRow).values(
            run_id=run_id, seq=seq, at=at, kind=event.kind, version=SCHEMA_VERSION, body=encode(event)
        )
    )


def _summary(event: Event, now: datetime) -> dict[str, Any]:
    """What a terminal event writes on the run's row."""
    if not isinstance(event, TERMINAL):
        return {}
    if isinstance(event, VerdictReached):
        return {"state": "verdict", "label": event.verdict.label.value, "ended_at": now}
    return {"state": "failed" if isinstance(event, RunFailed) else "interrupted", "ended_at": now}
