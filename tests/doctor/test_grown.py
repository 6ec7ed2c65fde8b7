"""Findings of the doctor about Redis and workers."""

from __future__ import annotations

from app.config.settings import Settings
from app.doctor import checks
from app.runs.celery_jobs import celery_app
from tests.celery_worker import at_work
from tests.doctor.looking import BROKEN, SOUND, WARNED, found, has, the_one
from tests.redis_server import running
from tests.waiting import until


def test_a_site_without_redis_has_no_problem():
    assert the_one(checks.workers, Settings())[0] is SOUND


def test_a_redis_that_does_not_answer_is_a_problem():
    with running() as server:
        settings = Settings(redis_url=server.url)
    assert has(found(checks.workers, settings), BROKEN, "Redis does not answer (ConnectionError)")


def test_workers_that_are_alive_are_named_and_having_none_is_a_warning():
    with running() as server:
        settings = Settings(redis_url=server.url)
        assert has(found(checks.workers, settings), WARNED, "No worker is running, so runs wait")
        with at_work(celery_app(server.url)):
            until(lambda: has(found(checks.workers, settings), SOUND, "1: "), "a worker that is alive")
        assert has(found(checks.workers, settings), WARNED, "No worker is running"), "one that leaves says so"
