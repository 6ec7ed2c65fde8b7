"""The thread runner limits concurrent runs, keeps their order, drops duplicates, and stops without hanging."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from app.config.settings import ROOT
from app.runs.jobs import ThreadJobs
from tests.waiting import LONG, until


@pytest.fixture
def jobs_with():
    """A function that makes ThreadJobs; all are stopped at the end."""
    made = []

    def make(carry_out, workers: int = 1) -> ThreadJobs:
        made.append(ThreadJobs(carry_out, workers))
        return made[-1]

    yield make
    for jobs in made:
        jobs.stop(wait=LONG)


def test_at_most_as_many_runs_as_workers_run_at_once_and_all_complete(jobs_with):
    lock = threading.Lock()
    now, most, done = [], [], []

    def work(run_id: str) -> None:
        with lock:
            now.append(run_id)
            most.append(len(now))
        time.sleep(0.03)
        with lock:
            now.remove(run_id)
            done.append(run_id)

    jobs = jobs_with(work, workers=2)
    for n in range(8):
        jobs.submit(str(n))
    until(lambda: len(done) == 8)
    assert max(most) == 2
    assert sorted(done) == [str(n) for n in range(8)]


def test_stopping_drops_queued_runs_and_refuses_new_ones(jobs_with):
    done, begun, gate = [], threading.Event(), threading.Event()

    def work(run_id: str) -> None:
        begun.set()
        gate.wait(LONG)
        done.append(run_id)

    jobs = jobs_with(work)
    jobs.submit("under way"), jobs.submit("waiting")
    assert begun.wait(LONG)
    began = time.monotonic()
    jobs.stop()
    jobs.submit("late")
    assert time.monotonic() - began < LONG / 2, "it waits only if requested"
    gate.set()
    jobs.stop(wait=LONG)
    assert done == ["under way"]


BLOCKED_WORKER = """
import threading
from app.runs.jobs import ThreadJobs

begun = threading.Event()
def work(run_id):
    begun.set()
    threading.Event().wait(600)

ThreadJobs(work, 1).submit("long")
begun.wait()
"""


def test_a_call_that_takes_minutes_does_not_keep_its_process_alive():
    subprocess.run([sys.executable, "-c", BLOCKED_WORKER], cwd=ROOT, check=True, timeout=LONG)
