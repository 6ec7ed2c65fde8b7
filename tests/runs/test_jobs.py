"""The pool: so many at once, the rest in order, and a stop that waits."""

from __future__ import annotations

import threading
import time

import pytest

from app.runs.jobs import ThreadJobs


def test_no_more_than_workers_are_at_it_at_once_and_all_get_done():
    jobs, lock = ThreadJobs(2), threading.Lock()
    now, most, done = [], [], []

    def work(n: int) -> None:
        with lock:
            now.append(n)
            most.append(len(now))
        time.sleep(0.03)
        with lock:
            now.remove(n)
            done.append(n)

    for n in range(8):
        jobs.submit(str(n), lambda n=n: work(n))
    jobs.stop()
    assert max(most) == 2
    assert sorted(done) == list(range(8))


def test_one_worker_takes_jobs_in_the_order_they_came():
    jobs, done = ThreadJobs(1), []
    for n in range(5):
        jobs.submit(str(n), lambda n=n: done.append(n))
    jobs.stop()
    assert done == list(range(5))


def test_after_stop_nothing_is_taken():
    jobs = ThreadJobs(1)
    jobs.stop()
    with pytest.raises(RuntimeError):
        jobs.submit("late", lambda: None)
