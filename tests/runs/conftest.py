"""Runs over scripted strategies on a real SQLite file."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from app.reasoning.report import Report
from app.runs.jobs import ThreadJobs
from app.runs.service import Runs, StoredEvent


@pytest.fixture
def runs_with(sessions) -> Callable[..., Runs]:
    """Make Runs over a wiring; all are stopped at the end, so no thread outlives its database."""
    made = []

    def make(wiring, workers: int = 2) -> Runs:
        made.append(Runs(sessions, ThreadJobs(workers), wiring.strategy_for))
        return made[-1]

    yield make
    for runs in made:
        runs.stop()


def events_until_end(runs: Runs, run_id: str) -> list[StoredEvent]:
    """Follow a run to its end, at most 30 s."""
    seen: list[StoredEvent] = []
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        news = runs.follow(run_id, seen[-1].seq if seen else 0, 5)
        seen += news
        if not news and runs.report(run_id).report.ended:
            return seen
    raise TimeoutError(f"run {run_id} did not end")


def ended(runs: Runs, run_id: str) -> Report:
    """The report of a run once it has ended."""
    events_until_end(runs, run_id)
    return runs.report(run_id).report
