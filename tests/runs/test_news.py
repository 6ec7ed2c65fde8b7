"""Who is woken by what happens in a run, and when."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from app.reasoning.events import Event, PhaseEntered, RunInterrupted, RunStarted
from app.reasoning.types import Claim, RunOptions
from app.runs.event_store import EventStore
from app.runs.news import News
from tests.waiting import LONG, LONGER


def test_what_happens_in_a_run_is_told_to_those_who_wait_for_it_and_to_nobody_else():
    news = News()
    with news.of(("a", "b")) as both, news.of(("b",)) as one:
        news.tell("a")
        assert (both.news.is_set(), one.news.is_set()) == (True, False)
        news.tell("b")
        assert one.news.is_set()


def test_what_happens_nobody_knows_where_is_told_to_all():
    news = News()
    with news.of(("a",)) as one, news.of(("b",)) as other:
        news.tell_all()
        assert one.news.is_set() and other.news.is_set()
        assert not one.end.is_set()


def test_who_waits_no_more_is_told_nothing():
    news = News()
    with news.of(("a",)) as waiting:
        pass
    news.tell("a", end=True)
    assert not waiting.news.is_set()


def test_only_the_end_of_a_run_is_told_as_its_end():
    news = News()
    with news.of(("a",)) as waiting:
        news.tell("a")
        assert not waiting.end.is_set()
        news.tell("a", end=True)
        assert waiting.end.is_set()


def test_it_is_known_how_many_runs_are_waited_for():
    news = News()
    with news.of(("a", "b")), news.of(("b",)):
        assert news.runs == 2
    assert news.runs == 0


def test_events_that_come_in_a_burst_are_followed_as_one_and_the_end_is_waited_for_by_nobody(sessions, leases_with):
    log = EventStore(sessions, poll_seconds=LONGER, coalesce_seconds=LONG)
    log.create_run("run", "owner", RunStarted(Claim("Hamlet was written in England."), RunOptions()))
    burst: list[Event] = [PhaseEntered("searching"), PhaseEntered("reading"), RunInterrupted("enough")]
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(log.follow, "run", 2, LONGER)
        time.sleep(0.2)
        lease = leases_with().take("run")
        began = time.monotonic()
        for event in burst:
            log.append(lease, event)
        assert [each.event for each in follower.result(timeout=LONG)] == burst
    assert time.monotonic() - began < LONG / 2
