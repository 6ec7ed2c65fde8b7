"""What the doctor says of Redis and of workers."""

from __future__ import annotations

from celery.contrib.testing.worker import start_worker

from app.doctor import grown
from app.runs.celery_jobs import celery_app
from app.runs.jobs import BATCHES, PEOPLE
from app.settings import Settings
from tests.doctor.looking import BROKEN, SOUND, WARNED, found, has, the_one
from tests.redis_server import running


def test_without_a_redis_nothing_is_missing():
    assert the_one(grown.workers, Settings())[0] is SOUND


def test_a_redis_that_does_not_answer_is_a_problem():
    with running() as server:
        settings = Settings(redis_url=server.url)
    assert has(found(grown.workers, settings), BROKEN, "Redis does not answer (ConnectionError)")


def test_workers_that_answer_are_named_and_none_is_a_warning():
    with running() as server:
        settings = Settings(redis_url=server.url)
        assert has(found(grown.workers, settings), WARNED, "No worker answers, so runs wait")
        at_work = start_worker(
            celery_app(server.url), queues=[PEOPLE, BATCHES], pool="threads", perform_ping_check=False
        )
        with at_work:
            assert has(found(grown.workers, settings), SOUND, "1: ")
