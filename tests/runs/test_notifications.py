"""Followers are woken by events of their runs, in this process and in others, and Redis failures delay nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.domain.events import Event, PhaseEntered, RunInterrupted, RunStarted
from app.domain.model import Claim, RunOptions
from app.runs.event_store import EventStore
from app.runs.notifications import CHANNEL, TIMEOUT_SECONDS, LocalSubscribers, RedisNotifier
from tests.redis_server import RedisServer, running
from tests.waiting import LONG, LONGER, until


def test_an_event_wakes_only_the_followers_of_its_run():
    subscribers = LocalSubscribers()
    with subscribers.subscribe("a") as one, subscribers.subscribe("b") as other:
        subscribers.notify("a")
        assert (one.changed.is_set(), other.changed.is_set()) == (True, False)


def test_an_event_of_another_process_wakes_all_followers():
    subscribers = LocalSubscribers()
    with subscribers.subscribe("a") as one, subscribers.subscribe("b") as other:
        subscribers.notify_all()
        assert one.changed.is_set() and other.changed.is_set()
        assert not one.ended.is_set()


def test_a_burst_of_events_is_returned_together_and_a_terminal_event_ends_the_wait(sessions, leases_with):
    events = EventStore(sessions, poll_seconds=LONGER, coalesce_seconds=LONG)
    events.create_run("run", "owner", RunStarted(Claim("Hamlet was written in England."), RunOptions()))
    burst: list[Event] = [PhaseEntered("searching"), PhaseEntered("reading"), RunInterrupted("enough")]
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(events.follow, "run", 2, LONGER)
        time.sleep(0.2)
        lease = leases_with().acquire("run")
        began = time.monotonic()
        for event in burst:
            events.append(lease, event)
        assert [each.event for each in follower.result(timeout=LONG)] == burst
    assert time.monotonic() - began < LONG / 2


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


@pytest.fixture
def notifier_of(redis):
    made = []

    def make(retry_seconds: float = 0.1) -> RedisNotifier:
        made.append(RedisNotifier(redis.url, retry_seconds))
        return made[-1]

    yield make
    for notifier in made:
        notifier.close()


def subscribers_of(redis: RedisServer) -> int:
    return redis.client.pubsub_numsub(CHANNEL)[0][1]


def test_a_message_reaches_another_process(redis, notifier_of):
    called = threading.Event()
    notifier_of().subscribe(called.set)
    until(lambda: subscribers_of(redis) == 1)
    called.clear()
    notifier_of().publish()
    assert called.wait(LONG)


def test_a_new_subscriber_is_called_once_for_earlier_messages(notifier_of):
    called = threading.Event()
    notifier_of().subscribe(called.set)
    assert called.wait(LONG)


def test_a_subscriber_reconnects_when_redis_was_gone(redis, notifier_of):
    called = threading.Event()
    notifier_of().subscribe(called.set)
    until(lambda: subscribers_of(redis) == 1)
    redis.stop()
    redis.start()
    until(lambda: subscribers_of(redis) == 1)
    called.clear()
    notifier_of().publish()
    assert called.wait(LONG)


def test_publishing_without_redis_raises_nothing_and_is_logged_once(redis, notifier_of, caplog):
    redis.stop()
    notifier = notifier_of(retry_seconds=0)
    for _ in range(3):
        notifier.publish()
    assert len([each for each in caplog.records if each.name == "app.runs.notifications"]) == 1


def test_a_redis_that_hangs_delays_one_message_and_not_those_after_it(redis, notifier_of):
    notifier = notifier_of(retry_seconds=60)
    notifier.publish()
    redis.hold()
    try:
        notifier.publish()
        began = time.monotonic()
        for _ in range(100):
            notifier.publish()
        assert time.monotonic() - began < 50 * TIMEOUT_SECONDS
    finally:
        redis.release()
