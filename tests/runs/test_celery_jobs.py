"""A run's message reaches a worker, is sent once while it is queued, and again if it was lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.runs.celery_jobs import CARRY_OUT, MAX_QUEUED, QUEUED_SECONDS, CeleryJobs, celery_app
from app.runs.jobs import BATCHES, PEOPLE, RESUBMIT_SECONDS
from tests.celery_worker import at_work
from tests.redis_server import RedisServer, running
from tests.waiting import until


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


@pytest.fixture(autouse=True)
def empty(redis) -> None:
    redis.client.flushall()


@pytest.fixture
def jobs(redis) -> CeleryJobs:
    return CeleryJobs(print, redis.url)


def messages(redis: RedisServer, queue: str = PEOPLE) -> int:
    return redis.client.llen(queue)


def test_a_run_named_twice_is_sent_once_while_its_message_is_on_its_way(redis, jobs):
    jobs.submit("run")
    CeleryJobs(print, redis.url).submit("run")
    jobs.submit("another")
    assert messages(redis) == 2


def test_a_run_that_was_taken_up_and_is_free_again_is_sent_again(redis, jobs):
    jobs.submit("run")
    redis.client.delete(PEOPLE)
    jobs.submit("run")
    assert messages(redis) == 0
    jobs.carry_out("run")
    jobs.submit("run")
    assert messages(redis) == 1


def test_a_redis_that_was_emptied_gets_every_message_again(redis, jobs):
    jobs.submit("run")
    redis.client.flushall()
    jobs.submit("run")
    assert messages(redis) == 1


def test_a_redis_whose_clock_was_set_back_remembers_a_message_for_no_hour(redis, jobs):
    jobs.submit("run")
    (remembered,) = redis.client.keys("hopcheck:queued:*")
    redis.client.expire(remembered, 3600)
    jobs.submit("run")
    assert redis.client.ttl(remembered) <= QUEUED_SECONDS


def test_a_batchs_run_waits_in_a_queue_of_its_own(redis):
    jobs = CeleryJobs(print, redis.url)
    jobs.submit("batch", BATCHES)
    jobs.submit("person")
    assert (messages(redis, BATCHES), messages(redis, PEOPLE)) == (1, 1)


def test_a_queue_that_is_long_already_is_made_no_longer(redis, jobs):
    for number in range(MAX_QUEUED + 10):
        jobs.submit(f"run {number}")
    assert messages(redis) == MAX_QUEUED
    redis.client.lpop(PEOPLE)
    jobs.submit("the last")
    assert messages(redis) == MAX_QUEUED


def test_only_an_empty_queue_has_lost_the_messages_of_new_runs(redis, jobs):
    assert jobs.resubmit_after(PEOPLE) == RESUBMIT_SECONDS
    jobs.submit("run")
    assert jobs.resubmit_after(PEOPLE) == QUEUED_SECONDS
    assert jobs.resubmit_after(BATCHES) == RESUBMIT_SECONDS


def test_nothing_is_sent_by_a_process_that_leaves(redis, jobs):
    jobs.stop()
    jobs.submit("run")
    assert messages(redis) == 0


def test_without_redis_naming_a_run_raises_nothing_and_is_said_once(redis, caplog):
    with running() as gone:
        jobs = CeleryJobs(print, gone.url)
    for run_id in ("one", "two"):
        jobs.submit(run_id)
    assert [each.getMessage() for each in caplog.records if each.name == "app.runs.celery_jobs"] == [
        "Redis does not answer (ConnectionError); runs wait until it does"
    ]


def test_a_worker_takes_peoples_runs_before_those_of_batches(redis):
    jobs = CeleryJobs(print, redis.url)
    for run_id in ("batches 1", "batches 2", "people 1", "people 2"):
        jobs.submit(run_id, run_id.split()[0])
    assert carried_out(redis, 4)[0].startswith("people")


def carried_out(redis: RedisServer, number: int) -> list[str]:
    """What a real worker carries out, one run at a time, until it has had so many."""
    app, taken = celery_app(redis.url), []

    @app.task(name=CARRY_OUT, shared=False)
    def carry_out(run_id: str) -> None:
        taken.append(run_id)

    with at_work(app):
        until(lambda: len(taken) == number)
    return taken
