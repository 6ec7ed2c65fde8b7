"""The queue is limited, a waiting run has a place in it, and a daily limit stops new runs."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from app.domain.events import RunStarted
from app.domain.model import Claim, RunOptions
from app.runs.admission import Admission
from app.runs.event_store import EventStore
from app.runs.models import RunRow
from app.runs.service import DailyLimitReached, Limits, Place, QueueFull
from tests.fakes import Gate, scripted_container
from tests.runs.conftest import ended, row_of
from tests.waiting import LONG

CLAIM = Claim("The author of Hamlet was born in England.")
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def gate() -> Gate:
    """A gate that holds every run before its first question."""
    return Gate("question 1")


@pytest.fixture
def start(gate):
    """A function that starts a run and returns its id; the gate is opened at the end."""

    def starting(runs) -> str:
        return runs.start(CLAIM, RunOptions(), "me")

    yield starting
    gate.open()


def starts(runs, client: str, times: int) -> int:
    """Start up to `times` runs as the client and return how many were admitted."""
    started = 0
    for _ in range(times):
        try:
            runs.start(CLAIM, RunOptions(), "me", client=client)
        except QueueFull as error:
            assert "of your checks" in str(error)
        else:
            started += 1
    return started


def test_one_client_may_take_half_of_the_queue_and_others_the_rest(runs_with, gate, start):
    runs = runs_with(scripted_container(gate=gate), workers=1, max_waiting=4)
    assert starts(runs, "one", 1) == 1 and gate.reached.wait(LONG)
    assert [starts(runs, each, 3) for each in ("one", "two")] == [2, 2]
    with pytest.raises(QueueFull, match="Too many checks wait"):
        runs.start(CLAIM, RunOptions(), "me", client="three")


def test_simultaneous_starts_never_exceed_the_queue_limit(runs_with, gate, start):
    servers = [runs_with(scripted_container(gate=gate), workers=1, max_waiting=3) for _ in range(2)]
    start(servers[0])
    assert gate.reached.wait(LONG), "one worker of each server counts, and this one is at work"
    ready = threading.Barrier(12)

    def is_admitted(number: int) -> bool:
        ready.wait(LONG)
        try:
            start(servers[number % 2])
        except QueueFull:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(is_admitted, range(12))) in (3, 4), "the other server's worker may have begun one meanwhile"


def test_a_waiting_run_has_its_place_in_the_queue(runs_with, gate, start):
    runs = runs_with(scripted_container(gate=gate), workers=1)
    running = start(runs)
    assert gate.reached.wait(LONG)
    second = start(runs)
    time.sleep(0.01)  # SQLite's clock counts milliseconds
    third = start(runs)
    assert [runs.place(each) for each in (running, second, third)] == [None, Place(1, None), Place(2, None)]
    assert runs.place("never") is None
    gate.open()
    assert ended(runs, third).ended == "verdict"
    assert [runs.place(each) for each in (running, second, third)] == [None] * 3


def test_the_wait_is_estimated_from_the_duration_of_recent_runs(runs_with, gate, start, sessions):
    runs = runs_with(scripted_container(gate=gate, delay=0.1), workers=1, max_waiting=2)
    gate.open()
    first = start(runs)
    ended(runs, first)
    row = row_of(sessions, first)
    assert 0.9 <= (row.ended_at - row.began_at).total_seconds() < 20
    held = Gate("question 1")
    runs = runs_with(scripted_container(gate=held), workers=1, max_waiting=2)
    start(runs)
    assert held.reached.wait(LONG)
    waiting = [start(runs) for _ in range(2)]
    one, two = (runs.place(each) for each in waiting)
    assert (one.position, two.position) == (1, 2)
    assert 1 <= one.seconds <= two.seconds <= 2 * one.seconds
    with pytest.raises(QueueFull) as caught:
        start(runs)
    assert caught.value.retry_after == one.seconds
    held.open()
    ended(runs, waiting[-1])


def test_the_wait_is_divided_by_the_runs_that_all_processes_carry_out(sessions, leases_with):
    log, leases = EventStore(sessions), leases_with()
    for run_id in ("done", "one", "two", "waiting"):
        log.create_run(run_id, "me", RunStarted(CLAIM, RunOptions()))
    leases.acquire("one"), leases.acquire("two")
    done = {"state": "verdict", "began_at": NOON, "ended_at": NOON + timedelta(minutes=1)}
    with sessions.begin() as session:
        session.execute(update(RunRow).where(RunRow.id == "done").values(**done))
    assert Admission(sessions, workers=1, max_waiting=9, limits=Limits()).place("waiting") == Place(1, 30)


def test_a_run_beyond_the_daily_limit_is_refused_with_the_reason(runs_with):
    runs = runs_with(scripted_container(), limits=Limits(day_calls=9))
    ended(runs, runs.start(CLAIM, RunOptions(), "me"))
    with pytest.raises(DailyLimitReached, match=r"calls a day was reached: 9\. .*midnight") as caught:
        runs.start(CLAIM, RunOptions(), "me")
    assert 0 < caught.value.retry_after <= 86_400
    assert len(runs.recent("me")) == 1
