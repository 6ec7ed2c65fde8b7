"""The contract of job runners, tested with threads and with Celery on a real Redis and a real worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from app.runs.celery_jobs import CARRY_OUT, CeleryJobs, celery_app
from app.runs.jobs import JobRunner, ThreadJobs
from app.runs.models import BATCHES, PEOPLE
from tests.celery_worker import at_work
from tests.redis_server import RedisServer, running
from tests.waiting import LONG, until

MakeRunner = Callable[[Callable[[str], None]], JobRunner]


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


@pytest.fixture(params=["threads", "celery"])
def make_runner(request) -> Iterator[MakeRunner]:
    """A function that makes a runner of `work`, one run at a time; it is stopped at the end or when another is made."""
    with ExitStack() as stack:

        def make(work: Callable[[str], None]) -> JobRunner:
            stack.close()  # two workers of Celery's in one process share their shutdown flag
            if request.param == "threads":
                jobs: JobRunner = ThreadJobs(work, 1)
            else:
                jobs = working(stack, request.getfixturevalue("redis"), work)
            stack.callback(jobs.stop, LONG)
            return jobs

        yield make


def working(stack: ExitStack, redis: RedisServer, work: Callable[[str], None]) -> CeleryJobs:
    """Start a Celery worker in this process and return the jobs that it takes runs from."""
    redis.client.flushall()
    jobs, app = CeleryJobs(work, redis.url), celery_app(redis.url)

    @app.task(name=CARRY_OUT, shared=False)
    def carry_out(run_id: str) -> None:
        jobs.carry_out(run_id)

    stack.enter_context(at_work(app))
    return jobs


class Busy:
    """Work that records each run and waits until the gate is opened."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gate = threading.Event()

    def __call__(self, run_id: str) -> None:
        self.begun.append(run_id)
        self.gate.wait(LONG)


def test_runs_of_one_queue_are_carried_out_one_at_a_time_in_submission_order(make_runner):
    done: list[str] = []
    jobs = make_runner(done.append)
    for number in range(4):
        jobs.submit(str(number))
    until(lambda: done == ["0", "1", "2", "3"])


def test_a_run_submitted_again_while_queued_is_carried_out_once(make_runner):
    work = Busy()
    jobs = make_runner(work)
    jobs.submit("first")
    until(lambda: work.begun)
    for _ in range(3):
        jobs.submit("again and again")
    jobs.submit("last")
    work.gate.set()
    until(lambda: work.begun[-1] == "last")
    assert work.begun == ["first", "again and again", "last"]


def test_a_persons_run_goes_before_batch_runs_submitted_earlier(make_runner):
    work = Busy()
    jobs = make_runner(work)
    jobs.submit("first", BATCHES)
    until(lambda: work.begun)
    for run_id in ("batch 1", "batch 2", "batch 3"):
        jobs.submit(run_id, BATCHES)
    jobs.submit("person", PEOPLE)
    work.gate.set()
    until(lambda: len(work.begun) == 5)
    assert work.begun.index("person") <= 2, "at most what the worker has in its hand goes before"


def test_a_run_that_raises_does_not_stop_the_worker(make_runner):
    done: list[str] = []

    def work(run_id: str) -> None:
        done.append(run_id)
        if run_id == "bad":
            raise KeyError(run_id)

    jobs = make_runner(work)
    jobs.submit("bad")
    jobs.submit("good")
    until(lambda: done == ["bad", "good"])


def test_a_stopped_runner_accepts_no_more_runs(make_runner):
    done: list[str] = []
    jobs = make_runner(done.append)
    jobs.submit("run")
    until(lambda: done == ["run"])
    jobs.stop()
    jobs.submit("late")
    other = make_runner(done.append)
    other.submit("other")
    until(lambda: "other" in done)
    assert "late" not in done
