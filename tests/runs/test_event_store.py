"""Events are numbered without gaps, appended only by the lease holder, ended by a terminal one, and wake followers."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text, update

from app.config.settings import ROOT
from app.domain.errors import InvalidInput
from app.domain.events import PhaseEntered, RunFailed, RunInterrupted, RunStarted, TokensUsed, VerdictReached
from app.domain.model import Claim, Label, RunOptions, Usage, Verdict
from app.runs.budget import Spending
from app.runs.db import DatabaseUnavailable, database_now
from app.runs.event_store import WAITING, EventStore, RunEnded, Unreadable
from app.runs.leases import Lease, LeaseLost
from app.runs.models import EventRow, RunRow
from tests.runs.conftest import lapse, only_sqlite
from tests.waiting import LONG, LONGER

STARTED = RunStarted(Claim("Hamlet is a play."), RunOptions())


@pytest.fixture
def log(sessions) -> EventStore:
    """An event store that practically never polls, with one run."""
    log = EventStore(sessions, poll_seconds=10 * LONG)
    log.create_run("run", "owner", STARTED)
    return log


@pytest.fixture
def lease(log, leases_with) -> Lease:
    """The lease of that run."""
    return leases_with().acquire("run")


def test_events_are_numbered_from_1_and_read_back_in_order(log, lease):
    assert [log.append(lease, PhaseEntered(f"phase {n}")) for n in range(3)] == [3, 4, 5]
    stored = log.read("run")
    assert [each.seq for each in stored] == [1, 2, 3, 4, 5]
    assert [each.event for each in stored] == [STARTED, WAITING, *(PhaseEntered(f"phase {n}") for n in range(3))]
    assert log.read("run", after=3) == stored[3:]


def test_seconds_count_from_the_runs_start(log, lease):
    time.sleep(0.05)
    log.append(lease, PhaseEntered("later"))
    first, second, later = log.read("run")
    assert first.seconds == second.seconds == 0.0
    assert 0.04 <= later.seconds < 30


@pytest.mark.parametrize(
    "last, state, label",
    [
        (VerdictReached(Verdict(Label.REFUTED, ())), "verdict", "REFUTED"),
        (RunFailed("no"), "failed", None),
        (RunInterrupted("cut"), "interrupted", None),
    ],
)
def test_a_terminal_event_updates_the_summary_in_the_runs_row(log, lease, sessions, last, state, label):
    with sessions() as session:
        assert session.get(RunRow, "run").state == "running"
    log.append(lease, last)
    with sessions() as session:
        row = session.get(RunRow, "run")
    assert (row.state, row.label, row.last_seq) == (state, label, 3)
    assert (row.holder, row.leased_until) == (None, None)
    assert row.ended_at >= row.created_at


def test_nothing_is_appended_after_a_terminal_event(log, lease):
    log.append(lease, RunFailed("no"))
    for late in (PhaseEntered("late"), VerdictReached(Verdict(Label.SUPPORTED, ())), RunInterrupted("late")):
        with pytest.raises(RunEnded):
            log.append(lease, late)
    assert [each.event.kind for each in log.read("run")] == ["run_started", "phase_entered", "run_failed"]


def test_appending_with_a_lease_that_another_process_took_is_refused(log, lease, leases_with, sessions):
    lapse(sessions, "run")
    newer = leases_with().acquire("run")
    for late in (PhaseEntered("late"), VerdictReached(Verdict(Label.SUPPORTED, ()))):
        with pytest.raises(LeaseLost):
            log.append(lease, late)
    assert log.append(newer, PhaseEntered("mine")) == 3


def test_an_overdue_lease_is_valid_until_another_process_expires_it(log, lease, sessions):
    with sessions.begin() as session:
        session.execute(update(RunRow).values(leased_until=database_now(-3600)))
    assert log.append(lease, PhaseEntered("after a long breath")) == 3
    lapse(sessions, "run")
    with pytest.raises(LeaseLost):
        log.append(lease, PhaseEntered("too late"))


def test_a_cost_is_added_to_the_daily_sum_in_the_same_transaction(log, lease, sessions):
    log.append(lease, TokensUsed(Usage(1, 10, 2, cost=0.5)))
    log.append(lease, TokensUsed(Usage(2, 5, 5)))
    log.append(lease, TokensUsed(Usage(cached=3)))
    assert Spending(sessions).today() == Usage(3, 15, 7, cost=0.5)
    with sessions.begin() as session:
        session.execute(text("alter table spending rename to lost"))
    with pytest.raises(DatabaseUnavailable):
        log.append(lease, TokensUsed(Usage(1)))
    assert [each.seq for each in log.read("run")] == [1, 2, 3, 4, 5], (
        "an event whose cost could not be counted is not stored"
    )


def test_a_run_that_is_not_admitted_is_not_stored(log):
    def admit(session) -> None:
        assert session.get(RunRow, "another") is not None, "it sees the database with the run in it"
        raise InvalidInput("not now")

    with pytest.raises(InvalidInput):
        log.create_run("another", "owner", STARTED, admit)
    assert log.read("another") == ()


def test_events_of_another_version_are_refused_and_not_misread(log, lease, sessions):
    with sessions.begin() as session:
        session.execute(update(EventRow).where(EventRow.run_id == lease.run_id).values(version=99))
    for read in (lambda: log.read(lease.run_id), lambda: log.follow(lease.run_id, 0, 0)):
        with pytest.raises(Unreadable, match="another version of Hopcheck") as raised:
            read()
        assert "schema version 99" in str(raised.value.__cause__)


def test_closing_the_store_ends_all_waits_at_once(log):
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(log.follow, "run", 2, LONGER)
        time.sleep(0.2)
        assert not follower.done()
        log.close()
        assert follower.result(timeout=LONG) == ()
    assert [each.seq for each in log.follow("run", 0, wait=30)] == [1, 2], "what is there is still read"


WRITER = """
import sys
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker
from app.domain.events import PhaseEntered
from app.runs.event_store import EventStore
from app.runs.leases import Lease

log, lease = EventStore(sessionmaker(create_engine(sys.argv[1]))), Lease("run", int(sys.argv[3]))
for n in range(40):
    log.append(lease, PhaseEntered(f"{sys.argv[2]}.{n}"))
"""


def test_processes_writing_one_run_at_once_leave_no_gap_and_lose_nothing(log, lease, database_url):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, database_url, who, str(lease.epoch)], cwd=ROOT) for who in "ab"
    ]
    assert [writer.wait(LONG) for writer in writers] == [0, 0]
    stored = log.read("run")
    assert [each.seq for each in stored] == list(range(1, 83))
    for who in "ab":
        own = [each.event.phase for each in stored[2:] if each.event.phase.startswith(who)]
        assert own == [f"{who}.{n}" for n in range(40)]


def test_a_follower_finds_what_another_process_appended(sessions, leases_with):
    mine, others = EventStore(sessions, poll_seconds=0.05), EventStore(sessions)
    others.create_run("run", "owner", STARTED)
    lease = leases_with().acquire("run")
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(mine.follow, "run", 2, LONGER)
        time.sleep(0.2)
        others.append(lease, PhaseEntered("from elsewhere"))
        (news,) = follower.result(timeout=LONG)
    assert news.event == PhaseEntered("from elsewhere")


def test_events_of_another_run_do_not_end_the_wait(log, lease, leases_with):
    log.create_run("other", "owner", STARTED)
    other = leases_with().acquire("other")
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(log.follow, "run", 2, LONGER)
        log.append(other, PhaseEntered("not mine"))
        time.sleep(0.2)
        assert not follower.done()
        log.append(lease, PhaseEntered("mine"))
        assert [each.event for each in follower.result(timeout=LONG)] == [PhaseEntered("mine")]


def test_a_follower_misses_no_event_between_two_reads(log, lease):
    def write() -> None:
        for n in range(60):
            log.append(lease, PhaseEntered(str(n)))
        log.append(lease, RunFailed("end"))

    writer = threading.Thread(target=write)
    writer.start()
    seen = [2]
    while events := log.follow("run", seen[-1], wait=LONG):
        seen += [each.seq for each in events]
    writer.join()
    assert seen == list(range(2, 64))


@only_sqlite
def test_every_sqlite_connection_has_the_required_pragmas(as_served, sessions):
    engine = sessions.kw["bind"]
    with engine.connect() as one, engine.connect() as two:
        for connection in (one, two):
            found = {name: connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "foreign_keys")}
            assert found == {"journal_mode": "wal", "foreign_keys": 1}
            assert connection.scalar(text("PRAGMA synchronous")) == 1
            assert connection.scalar(text("PRAGMA busy_timeout")) >= 5000
