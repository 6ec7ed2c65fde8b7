"""A run's message reaches a worker, is sent once while it is queued, and again if it was lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kombu import Queue

from app.runs.celery_jobs import MAX_QUEUED, QUEUED_SECONDS, CeleryJobs, celery_app
from app.runs.jobs import RESUBMIT_SECONDS
from app.runs.models import BATCHES, PEOPLE, QUEUES
from tests.redis_server import RedisServer, running
from tests.waiting import LONG


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


def test_a_run_submitted_twice_is_sent_once_while_its_message_is_queued(redis, jobs):
    jobs.submit("run")
    CeleryJobs(print, redis.url).submit("run")
    jobs.submit("another")
    assert messages(redis) == 2


def test_a_run_that_was_carried_out_can_be_sent_again(redis, jobs):
    jobs.submit("run")
    redis.client.delete(PEOPLE)
    jobs.submit("run")
    assert messages(redis) == 0
    jobs.carry_out("run")
    jobs.submit("run")
    assert messages(redis) == 1


def test_messages_are_sent_again_after_redis_was_emptied(redis, jobs):
    jobs.submit("run")
    redis.client.flushall()
    jobs.submit("run")
    assert messages(redis) == 1


def test_a_sent_message_is_forgotten_in_time_after_the_redis_clock_was_set_back(redis, jobs):
    jobs.submit("run")
    (remembered,) = redis.client.keys("hopcheck:queued:*")
    redis.client.expire(remembered, 3600)
    jobs.submit("run")
    assert redis.client.ttl(remembered) <= QUEUED_SECONDS


def test_the_runs_of_people_are_taken_before_those_of_batches(redis, jobs):
    for run_id, queue in (("batch", BATCHES), ("first", PEOPLE), ("second", PEOPLE)):
        jobs.submit(run_id, queue)
    taken: list[str] = []

    def take(body, message) -> None:
        taken.append(body[0][0])
        message.ack()

    with celery_app(redis.url).connection_for_read() as connection:
        queues = [Queue(name, routing_key=name) for name in QUEUES]
        with connection.Consumer(queues, callbacks=[take], accept=["json"], prefetch_count=1):
            while len(taken) < 3:
                connection.drain_events(timeout=LONG)
    assert taken == ["first", "second", "batch"]


def test_a_full_queue_takes_no_more_messages(redis, jobs):
    for number in range(MAX_QUEUED + 10):
        jobs.submit(f"run {number}")
    assert messages(redis) == MAX_QUEUED
    redis.client.lpop(PEOPLE)
    jobs.submit("the last")
    assert messages(redis) == MAX_QUEUED


def test_runs_are_resubmitted_early_only_while_their_queue_is_empty(redis, jobs):
    assert jobs.resubmit_after(PEOPLE) == RESUBMIT_SECONDS
    jobs.submit("run")
    assert jobs.resubmit_after(PEOPLE) == QUEUED_SECONDS
    assert jobs.resubmit_after(BATCHES) == RESUBMIT_SECONDS


def test_submitting_without_redis_raises_nothing_and_is_logged_once(redis, caplog):
    with running() as gone:
        jobs = CeleryJobs(print, gone.url)
    for run_id in ("one", "two"):
        jobs.submit(run_id)
    assert [each.getMessage() for each in caplog.records if each.name == "app.runs.celery_jobs"] == [
        "Redis does not answer (ConnectionError); runs wait until it does"
    ]
