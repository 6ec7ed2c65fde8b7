"""The log: numbered without gaps whoever writes, closed by a terminal event, and waking those who wait for it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from app.reasoning.events import PhaseEntered, RunFailed, RunInterrupted, RunStarted, VerdictReached
from app.reasoning.types import Claim, Label, RunOptions, Verdict
from app.runs.event_log import EventLog, RunEnded
from app.runs.tables import EventRow, RunRow
from app.settings import ROOT

STARTED = RunStarted(Claim("Hamlet is a play."), RunOptions())


@pytest.fixture
def log(sessions) -> EventLog:
    """A log that never looks again by itself, with one run begun."""
    log = EventLog(sessions, poll_seconds=60)
    log.begin("run", "owner", "process", STARTED)
    return log


def test_events_are_numbered_from_1_and_read_back_in_order(log):
    assert [log.append("run", PhaseEntered(f"phase {n}")) for n in range(3)] == [2, 3, 4]
    stored = log.read("run")
    assert [each.seq for each in stored] == [1, 2, 3, 4]
    assert [each.event for each in stored] == [STARTED, *(PhaseEntered(f"phase {n}") for n in range(3))]
    assert log.read("run", after=3) == stored[3:]


def test_seconds_count_from_the_runs_start(log):
    time.sleep(0.05)
    log.append("run", PhaseEntered("later"))
    first, later = log.read("run")
    assert first.seconds == 0.0
    assert 0.05 <= later.seconds < 30


def test_times_are_stored_as_utc_and_come_back_aware(log, sessions):
    with sessions() as session:
        at = session.get(EventRow, ("run", 1)).at
        raw = session.execute(text("select at from events")).scalar_one()
    assert at.tzinfo is UTC and abs(datetime.now(UTC) - at) < timedelta(minutes=1)
    assert datetime.fromisoformat(raw) == at.replace(tzinfo=None)


@pytest.mark.parametrize(
    "last, state, label",
    [
        (VerdictReached(Verdict(Label.REFUTED, ())), "verdict", "REFUTED"),
        (RunFailed("no"), "failed", None),
        (RunInterrupted("cut"), "interrupted", None),
    ],
)
def test_a_terminal_event_sums_the_run_up_in_its_row(log, sessions, last, state, label):
    with sessions() as session:
        assert session.get(RunRow, "run").state == "running"
    log.append("run", last)
    with sessions() as session:
        row = session.get(RunRow, "run")
    assert (row.state, row.label, row.last_seq) == (state, label, 2)
    assert row.ended_at >= row.created_at


def test_after_a_terminal_event_nothing_is_appended(log):
    log.append("run", RunFailed("no"))
    for late in (PhaseEntered("late"), VerdictReached(Verdict(Label.SUPPORTED, ())), RunInterrupted("late")):
        with pytest.raises(RunEnded):
            log.append("run", late)
    assert [each.event.kind for each in log.read("run")] == ["run_started", "run_failed"]


def test_a_run_that_is_not_there_takes_no_events(log):
    with pytest.raises(RunEnded):
        log.append("another", PhaseEntered("x"))


def test_of_threads_that_end_a_run_at_once_exactly_one_does(log):
    together = threading.Barrier(8)

    def end(n: int) -> bool:
        together.wait()
        try:
            log.append("run", RunInterrupted(f"by {n}"))
        except RunEnded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(end, range(8))) == 1
    assert len(log.read("run")) == 2


def test_threads_writing_one_run_at_once_leave_no_gap_and_lose_nothing(log):
    def write(thread: int) -> None:
        for n in range(25):
            log.append("run", PhaseEntered(f"{thread}.{n}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    stored = log.read("run")
    assert [each.seq for each in stored] == list(range(1, 102))
    assert {each.event.phase for each in stored[1:]} == {f"{t}.{n}" for t in range(4) for n in range(25)}


WRITER = """
import sys
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker
from app.reasoning.events import PhaseEntered
from app.runs.event_log import EventLog

log = EventLog(sessionmaker(create_engine(sys.argv[1])))
for n in range(40):
    log.append("run", PhaseEntered(f"{sys.argv[2]}.{n}"))
"""


def test_processes_writing_one_run_at_once_leave_no_gap_and_lose_nothing(log, database_url):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, database_url, who], cwd=ROOT) for who in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    stored = log.read("run")
    assert [each.seq for each in stored] == list(range(1, 82))
    for who in "ab":
        own = [each.event.phase for each in stored[1:] if each.event.phase.startswith(who)]
        assert own == [f"{who}.{n}" for n in range(40)]


def test_a_follower_gets_at_once_what_is_there(log):
    began = time.monotonic()
    assert [each.seq for each in log.follow("run", 0, wait=30)] == [1]
    assert time.monotonic() - began < 5


def test_a_follower_is_woken_by_an_append_in_its_own_process(log):
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(log.follow, "run", 1, 30)
        time.sleep(0.2)
        assert not follower.done()
        log.append("run", PhaseEntered("news"))
        (news,) = follower.result(timeout=10)  # the log looks again by itself only after 60 s
    assert news.event == PhaseEntered("news")


def test_a_follower_finds_what_another_process_appended(sessions):
    mine, others = EventLog(sessions, poll_seconds=0.05), EventLog(sessions)
    others.begin("run", "owner", "process", STARTED)
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(mine.follow, "run", 1, 30)
        time.sleep(0.2)
        others.append("run", PhaseEntered("from elsewhere"))
        (news,) = follower.result(timeout=10)
    assert news.event == PhaseEntered("from elsewhere")


def test_another_runs_news_does_not_end_the_waiting(log):
    log.begin("other", "owner", "process", STARTED)
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(log.follow, "run", 1, 30)
        log.append("other", PhaseEntered("not mine"))
        time.sleep(0.2)
        assert not follower.done()
        log.append("run", PhaseEntered("mine"))
        assert [each.event for each in follower.result(timeout=10)] == [PhaseEntered("mine")]


def test_a_waiting_follower_holds_no_database_connection(log, sessions):
    pool_of_connections = sessions.kw["bind"].pool
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(log.follow, "run", 1, 30)
        time.sleep(0.3)
        assert not follower.done()
        assert pool_of_connections.checkedout() == 0
        log.append("run", RunFailed("done"))
        follower.result(timeout=10)


def test_a_follower_waits_no_longer_than_it_said(log):
    began = time.monotonic()
    assert log.follow("run", 1, wait=0.2) == ()
    assert 0.2 <= time.monotonic() - began < 10


def test_nobody_waits_for_a_run_that_has_ended_or_never_was(log):
    log.append("run", RunFailed("no"))
    began = time.monotonic()
    assert log.follow("run", 2, wait=30) == ()
    assert log.follow("never", 0, wait=30) == ()
    assert time.monotonic() - began < 10


def test_a_follower_misses_nothing_between_two_looks(log):
    def write() -> None:
        for n in range(60):
            log.append("run", PhaseEntered(str(n)))
        log.append("run", RunFailed("end"))

    writer = threading.Thread(target=write)
    writer.start()
    seen = [1]
    while events := log.follow("run", seen[-1], wait=20):
        seen += [each.seq for each in events]
    writer.join()
    assert seen == list(range(1, 63))


def test_every_connection_to_sqlite_is_tuned(sessions):
    engine = sessions.kw["bind"]
    with engine.connect() as one, engine.connect() as two:
        for connection in (one, two):
            found = {name: connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "foreign_keys")}
            assert found == {"journal_mode": "wal", "foreign_keys": 1}
            assert connection.scalar(text("PRAGMA synchronous")) == 1
            assert connection.scalar(text("PRAGMA busy_timeout")) >= 5000
