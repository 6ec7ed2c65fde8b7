"""The append-only event log: one event, one commit; whoever follows a run is woken by it.

Only the holder of a run's lease appends to it, which is checked in the transaction that appends. What belongs to an
event is written with it: a terminal one frees the lease and empties the journal, a cost is added to the day's.

A follower holds no session while it waits. Events of this process wake it at once, those of another process when a
bell is rung (bells.py), and at the latest when it looks again after POLL_SECONDS.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session, sessionmaker

from app.reasoning.errors import HopcheckError
from app.reasoning.events import TERMINAL, Event, PhaseEntered, RunBranched, RunStarted, TokensUsed
from app.reasoning.roles import Wish
from app.runs.bells import Bell, SilentBell
from app.runs.codec import decode
from app.runs.connections import engine_of, turn, writing
from app.runs.event_rows import ended_by, insert_event, insert_run, wish_in
from app.runs.event_statements import COUNT_UP, READ, STANDS, STANDS_ALONE, WISH, Look
from app.runs.journal import forget
from app.runs.leases import Lease, LeaseLost
from app.runs.news import News
from app.runs.spending import add_to_day
from app.runs.tables import RUNNING, RunRow, is_there

POLL_SECONDS = 0.5

GATHER_SECONDS = 0.05
"""A follower waits so long for what comes with the first news: a burst is drawn once. The end waits for nothing."""

GATHER_SECONDS_A_RUN = 0.005
MOST_GATHER_SECONDS = 0.25
"""Where many runs are followed, their readers gather for longer: one interpreter draws for all of them."""

WAITING = PhaseEntered("waiting for its turn")
"""The last of the events that a run begins with: the second, unless it branches off another."""


class RunEnded(HopcheckError):
    """The run has had its last event, or is not there: its log takes nothing more."""


class Unreadable(HopcheckError):
    """What is stored of a run cannot be read: another version of Hopcheck wrote it, or it is damaged."""

    def __init__(self) -> None:
        super().__init__("This check was stored by another version of Hopcheck, and this one cannot read it.")


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event with its number in the run, from 1, and the seconds since the run's start."""

    seq: int
    seconds: float
    event: Event


class EventLog:
    """The log of all runs in one database. Safe to share between threads."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        poll_seconds: float = POLL_SECONDS,
        bell: Bell | None = None,
        gather_seconds: float = GATHER_SECONDS,
    ) -> None:
        """`bell` is how other processes are told; None where there are none."""
        self._sessions = sessions
        self._engine = engine_of(sessions)
        self._poll_seconds = poll_seconds
        self._gather_seconds = gather_seconds
        self._bell = bell or SilentBell()
        self._news = News()
        self._closed = False

    def begin(
        self,
        run_id: str,
        owner: str,
        started: RunStarted,
        admit: Callable[[Session], None] = lambda session: None,
        standing: Sequence[Event] = (),
        batch: str | None = None,
    ) -> None:
        """Commit a new run's row together with its first events; `standing` are those that a branch begins with.

        `admit` looks at the database with the run in it and the write lock held; what it raises takes the run back.
        """
        with turn(self._engine), self._sessions.begin() as session:
            parent = next((each.branch.parent for each in standing if isinstance(each, RunBranched)), None)
            now = insert_run(session, run_id, owner, started, last_seq=len(standing) + 2, parent=parent, batch=batch)
            admit(session)
            for seq, event in enumerate((started, *standing, WAITING), 1):
                insert_event(session.connection(), run_id, seq, now, event)
        self._announce(run_id, WAITING)

    def keep(self, run_id: str, owner: str, told: Sequence[tuple[Event, float]]) -> None:
        """Commit a run that was read from a file, whole: RunStarted first and a terminal event last.

        `told` are its events with the seconds after its start. It has ended: nobody carries it out. Where it branched
        off is told and makes it no branch of a run here.
        """
        (started, _), (ended, _) = told[0], told[-1]
        if not isinstance(started, RunStarted):
            raise ValueError(f"a run begins with run_started, not {started.kind}")
        with turn(self._engine), self._sessions.begin() as session:
            now = insert_run(session, run_id, owner, started, last_seq=len(told), imported=True, **ended_by(ended))
            for seq, (event, seconds) in enumerate(told, 1):
                insert_event(session.connection(), run_id, seq, now + timedelta(seconds=seconds), event)

    def append(self, lease: Lease, event: Event, hears: Callable[[Wish], None] | None = None) -> int:
        """Commit one more event and return its number. `hears` is told what the run's owner wants at that moment.

        Raises LeaseLost when the lease's epoch is over, RunEnded after a terminal event. Counting up first takes the
        write lock before anything is read, so that two writers, in threads or processes, never take the same number,
        and nothing slips in behind a terminal event.
        """
        with writing(self._engine) as connection:
            counting = COUNT_UP.values(**ended) if (ended := ended_by(event)) else COUNT_UP
            row = connection.execute(counting, {"run": lease.run_id, "held": lease.epoch}).one_or_none()
            if row is None:
                raise _refusal(connection, lease)
            seq, now, wish = row
            insert_event(connection, lease.run_id, seq, lease.clock.now(), event)
            if isinstance(event, TokensUsed):
                add_to_day(connection, now.date(), event.usage)
            elif isinstance(event, TERMINAL):
                forget(connection, lease.run_id)
        self._announce(lease.run_id, event)
        if hears:
            hears(wish_in(wish))
        return seq

    def read(self, run_id: str, after: int = 0) -> tuple[StoredEvent, ...]:
        """The events with a number above `after`, in order. Raises Unreadable for those of another version.

        There are none of a run that was deleted, but who has read a part already hears how it ended.
        """
        reading = READ if after else READ.where(is_there())
        with self._engine.connect() as connection:
            rows = connection.execute(reading, {"run": run_id, "after": after}).all()
        try:
            return tuple(
                StoredEvent(row.seq, (row.at - row.created_at).total_seconds(), decode(row.body, row.version))
                for row in rows
            )
        except ValueError as error:
            raise Unreadable from error

    def follow(self, run_id: str, after: int, wait: float) -> tuple[StoredEvent, ...]:
        """As `read`, but when there is nothing yet, wait up to `wait` seconds for it.

        Returns () early when nothing can come any more: the run has ended, is not there, or this log was closed.
        """
        return self.follow_all({run_id: after}, wait).get(run_id, ())

    def follow_all(self, after: Mapping[str, int], wait: float) -> dict[str, tuple[StoredEvent, ...]]:
        """As `follow`, for several runs, each from a number of its own: those in which something happened."""
        deadline = time.monotonic() + wait
        self._bell.hear(self._news.tell_all)
        with self._news.of(after) as waiting:
            while True:
                waiting.news.clear()
                closed = self._closed
                look = self._look(after)
                left = deadline - time.monotonic()
                if closed or left <= 0 or look.nothing_more or (look.news and look.ended):
                    return self._read_all({run_id: after[run_id] for run_id in look.news})
                if look.news or waiting.news.wait(min(left, self._poll_seconds)):
                    waiting.end.wait(min(left, gathering(self._news.runs, self._gather_seconds)))
                    if happened := self._read_all(after):
                        return happened

    def _read_all(self, after: Mapping[str, int]) -> dict[str, tuple[StoredEvent, ...]]:
        return {run_id: events for run_id, seq in after.items() if (events := self.read(run_id, seq))}

    def wish(self, run_id: str) -> Wish:
        """What the run's owner wants of it."""
        with self._engine.connect() as connection:
            return wish_in(connection.scalar(WISH, {"run": run_id}))

    def close(self) -> None:
        """Let all who wait go: nothing more happens in this process. The log itself can still be read."""
        self._closed = True
        self._bell.close()
        self._news.tell_all(end=True)

    def _look(self, after: Mapping[str, int]) -> Look:
        """How the runs stand, in one statement: a run that it calls ended has no news that it does not tell."""
        asked = (STANDS_ALONE, {"run": next(iter(after))}) if len(after) == 1 else (STANDS, {"runs": list(after)})
        with self._engine.connect() as connection:
            return Look.at(connection.execute(*asked).all(), after)

    def _announce(self, run_id: str, event: Event) -> None:
        self._news.tell(run_id, end=isinstance(event, TERMINAL))
        self._bell.ring()


def gathering(runs: int, least: float = GATHER_SECONDS) -> float:
    """The seconds that a follower gathers for where so many runs are followed in this process."""
    return max(least, min(GATHER_SECONDS_A_RUN * runs, MOST_GATHER_SECONDS))


def _refusal(connection: Connection, lease: Lease) -> HopcheckError:
    """Why an event was not appended."""
    if connection.scalar(select(RunRow.state).where(RunRow.id == lease.run_id)) == RUNNING:
        return LeaseLost(f"run {lease.run_id} is no longer carried out in epoch {lease.epoch}")
    return RunEnded(f"run {lease.run_id} takes no more events")
