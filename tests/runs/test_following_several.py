"""Following several runs at once returns new events of any of them and does not wait without need."""

from __future__ import annotations

import threading

import pytest

from app.domain.events import PhaseEntered, RunStarted
from app.domain.model import Claim, RunOptions
from app.runs.event_store import EventStore
from app.runs.leases import Leases
from tests.waiting import LONG


@pytest.fixture
def log(sessions) -> EventStore:
    """A log in which the runs "a" and "b" have begun."""
    log = EventStore(sessions)
    for run_id in "ab":
        log.create_run(run_id, "somebody", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    return log


@pytest.fixture
def lease(sessions):
    """A function that takes the lease of a run."""
    leases = Leases(sessions)
    yield leases.steal
    leases.shutdown()


def numbers(happened) -> dict[str, list[int]]:
    return {run_id: [stored.seq for stored in events] for run_id, events in happened.items()}


def test_each_run_is_followed_from_its_own_sequence_number(log):
    assert numbers(log.follow_all({"a": 0, "b": 1}, 0)) == {"a": [1, 2], "b": [2]}


def test_an_event_of_one_run_wakes_a_follower_of_both(log, lease):
    held = lease("b")
    threading.Timer(0.2, log.append, (held, PhaseEntered("reading"))).start()
    assert numbers(log.follow_all({"a": 2, "b": 2}, LONG)) == {"b": [3]}
