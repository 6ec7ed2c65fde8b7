"""With Redis all servers count together; without it each goes on counting alone, and the site stays up."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.web.counters import NO_REDIS, PATIENCE_SECONDS, SteadyStorage, counters_at
from tests.redis_server import RedisServer, running
from tests.waiting import until
from tests.web.conftest import send
from tests.web.test_api import CLAIM, RUNS, with_tokens

GONE = "redis://127.0.0.1:1/0"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


def counted(storage: SteadyStorage, times: int, limit: int = 2) -> list[bool]:
    return [storage.acquire_entry("key", limit, 60) for _ in range(times)]


def test_servers_on_one_redis_share_one_count(redis):
    one, other = (SteadyStorage(counters_at(redis.url)) for _ in range(2))
    assert counted(one, 1) + counted(other, 2) == [True, True, False]
    assert other.get_moving_window("key", 2, 60)[1] == 2


def test_without_redis_it_counts_here_and_says_so_once(caplog):
    storage = SteadyStorage(counters_at(GONE))
    assert counted(storage, 3) == [True, True, False]
    assert [record.message for record in caplog.records] == [
        "Redis does not answer (ConnectionError); requests are counted here alone"
    ]


def test_a_redis_that_hangs_holds_up_one_request_and_not_every_one(redis):
    storage = SteadyStorage(counters_at(redis.url))
    counted(storage, 1)
    redis.hold()
    began = time.monotonic()
    counted(storage, 50, 100)
    redis.release()
    assert time.monotonic() - began < 25 * PATIENCE_SECONDS


def test_a_redis_that_comes_back_is_counted_in_again(redis):
    storage = SteadyStorage(counters_at(redis.url), pause_seconds=0.1)
    redis.stop()
    assert counted(storage, 3) == [True, True, False]
    redis.start()
    until(lambda: storage.acquire_entry("another", 10**6, 60) and redis.client.dbsize(), "a count in Redis")
    assert counted(storage, 3) == [True, True, False]


def test_what_is_given_back_may_be_taken_again_in_either_place(redis):
    for storage in (SteadyStorage(counters_at(redis.url)), SteadyStorage(counters_at(GONE)), SteadyStorage(NO_REDIS)):
        assert counted(storage, 3) == [True, True, False]
        storage.give_back("key")
        assert counted(storage, 2) == [True, False]
        for _ in range(3):  # once more than there is
            storage.give_back("key")
        assert storage.get_moving_window("key", 2, 60)[1] == 0
        assert counted(storage, 3) == [True, True, False]


def test_of_what_was_given_back_nothing_stays_in_memory():
    """Else each address that sends a form which is refused would leave a little behind, for good."""
    storage = SteadyStorage(NO_REDIS)
    for number in range(50):
        assert storage.acquire_entry(f"address {number}", 2, 60)
        storage.give_back(f"address {number}")
    until(lambda: not storage._memory.events and not storage._memory.locks, "a memory without anything", 30)


def test_every_other_use_of_a_storage_is_answered_by_both(redis):
    for storage in (SteadyStorage(counters_at(redis.url)), SteadyStorage(counters_at(GONE))):
        assert storage.incr("n", 60) == 1 and storage.get("n") == 1 and storage.check()
        assert storage.get_expiry("n") > time.time()
        storage.clear("n")
        assert storage.get("n") == 0
        storage.reset()


def test_a_site_whose_redis_is_gone_still_starts_runs_and_still_limits_them(make_app):
    client = make_app(rate_limit="2 per minute", redis_url=GONE).test_client()
    assert [send(client).status_code for _ in range(3)] == [303, 303, 429]


def test_the_minute_and_the_day_both_count(make_app):
    client = make_app(rate_limit="5 per second, 2 per day").test_client()
    answers = [send(client) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [303, 303, 429]
    assert 80_000 < int(answers[-1].headers["Retry-After"]) <= 86_401


def test_a_program_is_counted_by_its_token_wherever_it_is(make_app, tmp_path):
    app, one, two = with_tokens(make_app, tmp_path, "one", "two", rate_limit="1 per hour")

    def start(token, address: str) -> int:
        client = app.test_client()
        client.environ_base["REMOTE_ADDR"] = address
        return client.post(RUNS, json={"claim": CLAIM}, headers=token).status_code

    sent = [(one, "192.0.2.1"), (one, "192.0.2.2"), (two, "192.0.2.1")]
    assert [start(*each) for each in sent] == [201, 429, 201]
