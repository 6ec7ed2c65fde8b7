"""A lease has one holder at a time, each with a new epoch, and expires unless it is renewed."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from app.config.settings import ROOT
from app.domain.events import RunFailed, RunStarted
from app.domain.model import Claim, RunOptions
from app.runs.event_store import EventStore
from app.runs.leases import LEASE_SECONDS, Lease
from tests.runs.conftest import lapse, row_of
from tests.waiting import LONG, until


def left(sessions) -> timedelta:
    """Return the time until the run's lease expires."""
    return row_of(sessions, "run").leased_until - datetime.now(UTC)


def test_a_new_run_is_leased_to_the_first_and_refused_to_others(log, leases_with, sessions):
    mine, others = leases_with(), leases_with()
    assert mine.acquire("run") == Lease("run", 1)
    assert others.acquire("run") is None
    assert mine.acquire("run") is None, "not even the holder takes it twice"
    row = row_of(sessions, "run")
    assert row.holder and row.began_at and timedelta(0) < left(sessions) <= timedelta(seconds=LEASE_SECONDS)


TAKER = """
import sys
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker
from app.runs.leases import Leases

leases = Leases(sessionmaker(create_engine(sys.argv[1])))
print(sum(leases.acquire(str(n)) is not None for n in range(60)))
"""


def test_two_processes_never_hold_the_same_run(sessions, database_url):
    log = EventStore(sessions)
    for n in range(60):
        log.create_run(str(n), "owner", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    command = [sys.executable, "-c", TAKER, database_url]
    takers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    counts = [int(taker.communicate(timeout=LONG)[0]) for taker in takers]
    assert sum(counts) == 60


def test_an_expired_lease_is_taken_over_and_counts_as_lost(log, leases_with, sessions):
    first = leases_with().acquire("run")
    lapse(sessions, "run")
    began = row_of(sessions, "run").began_at
    assert leases_with().acquire("run") == Lease("run", first.epoch + 2, lost_leases=1)
    assert row_of(sessions, "run").began_at == began, "its work began when it began"


def test_a_released_lease_is_free_at_once_and_does_not_count_as_lost(log, leases_with, sessions):
    mine = leases_with()
    first = mine.acquire("run")
    mine.shutdown()
    assert row_of(sessions, "run").holder is None
    again = leases_with().acquire("run")
    assert (again.lost_leases, again.epoch > first.epoch) == (0, True)


def test_a_process_that_shut_down_acquires_no_more_leases(log, leases_with):
    leases = leases_with()
    leases.shutdown()
    assert leases.acquire("run") is None
    assert leases_with().acquire("run") is not None


def test_a_lease_is_renewed_for_as_long_as_it_is_held(log, leases_with):
    mine, others = leases_with(renew_seconds=0.1), leases_with(seconds=2, renew_seconds=0.1)
    lease = mine.acquire("run")
    ended = time.monotonic() + 3
    while time.monotonic() < ended:
        assert others.expire_stale() == ()
        assert others.acquire("run") is None
        time.sleep(0.02)
    mine.stop_renewing(lease)
    until(others.expire_stale)
    assert others.acquire("run")


def test_a_lost_lease_cannot_be_renewed(log, leases_with, sessions):
    mine, others = leases_with(), leases_with(seconds=100)
    mine.acquire("run")
    lapse(sessions, "run")
    others.acquire("run")
    before = row_of(sessions, "run").leased_until
    mine.renew()
    mine.release_all()
    row = row_of(sessions, "run")
    assert (row.leased_until, row.epoch) == (before, 3)


def test_renewal_continues_after_a_database_outage(log, leases_with, sessions, caplog):
    leases = leases_with(seconds=30, renew_seconds=0.05)
    leases.acquire("run")
    with sessions.begin() as session:
        session.execute(text("alter table runs rename to lost"))
    until(lambda: "leases could not be renewed" in caplog.text)
    time.sleep(0.3)
    with sessions.begin() as session:
        session.execute(text("alter table lost rename to runs"))
    with sessions.begin() as session:
        session.execute(text("update runs set leased_until = '2026-01-01 00:00:00.000000'"))
    until(lambda: left(sessions) > timedelta(seconds=10))
    assert caplog.text.count("leases could not be renewed") == 1


def test_a_lease_can_be_stolen_until_its_run_has_ended(log, leases_with):
    mine, others = leases_with(), leases_with()
    mine.acquire("run")
    stolen = others.steal("run")
    assert stolen.epoch == 2
    assert (others.free_runs(), leases_with().acquire("run")) == ((), None), "it waits for nobody else"
    log.append(stolen, RunFailed("ended by someone else"))
    assert others.steal("run") is None and others.steal("never") is None


def test_free_runs_are_the_unfinished_ones_without_a_holder_oldest_first(log, leases_with, sessions):
    for run_id in ("held", "lapsed", "done"):
        log.create_run(run_id, "owner", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    leases = leases_with()
    leases.acquire("held"), leases.acquire("lapsed")
    log.append(leases.acquire("done"), RunFailed("no"))
    assert leases.free_runs() == ("run",)
    lapse(sessions, "lapsed")
    assert leases.free_runs() == ("run", "lapsed")
    assert leases.free_runs(grace_seconds=30) == ("lapsed",), "a new run is left to who stored it"
    leases.release_all()
    assert leases.free_runs(grace_seconds=30) == ("held", "lapsed")
