"""A ring reaches those who listen in other processes, and a Redis that is gone or hangs holds nobody up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from app.runs.bells import CHANNEL, PATIENCE_SECONDS, RedisBell
from tests.redis_server import RedisServer, running
from tests.waiting import LONG, until


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


@pytest.fixture
def bell_of(redis):
    made = []

    def make(pause: float = 0.1) -> RedisBell:
        made.append(RedisBell(redis.url, pause))
        return made[-1]

    yield make
    for bell in made:
        bell.close()


def listeners(redis: RedisServer) -> int:
    return redis.client.pubsub_numsub(CHANNEL)[0][1]


def test_a_ring_is_heard_by_another_process(redis, bell_of):
    heard = threading.Event()
    bell_of().hear(heard.set)
    until(lambda: listeners(redis) == 1)
    heard.clear()
    bell_of().ring()
    assert heard.wait(LONG)


def test_who_begins_to_listen_looks_once_for_what_was_rung_before(bell_of):
    heard = threading.Event()
    bell_of().hear(heard.set)
    assert heard.wait(LONG)


def test_a_listener_comes_back_by_itself_when_redis_was_gone(redis, bell_of):
    heard = threading.Event()
    bell_of().hear(heard.set)
    until(lambda: listeners(redis) == 1)
    redis.stop()
    redis.start()
    until(lambda: listeners(redis) == 1)
    heard.clear()
    bell_of().ring()
    assert heard.wait(LONG)


def test_ringing_without_redis_raises_nothing_and_is_said_once(redis, bell_of, caplog):
    redis.stop()
    bell = bell_of(pause=0)
    for _ in range(3):
        bell.ring()
    assert len([each for each in caplog.records if each.name == "app.runs.bells"]) == 1


def test_a_redis_that_hangs_holds_up_one_ring_and_not_those_after_it(redis, bell_of):
    bell = bell_of(pause=60)
    bell.ring()
    redis.hold()
    try:
        bell.ring()
        began = time.monotonic()
        for _ in range(100):
            bell.ring()
        assert time.monotonic() - began < 50 * PATIENCE_SECONDS
    finally:
        redis.release()
