"""Runs with scripted strategies, on a SQLite file and on PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from app.domain.events import RunStarted
from app.domain.model import Claim, RunOptions
from app.domain.report import Report
from app.runs.event_store import EventStore, encode_options
from app.runs.leases import Leases
from app.runs.lifecycle import UNDO_SECONDS
from app.runs.models import BatchRow, RunRow
from app.runs.service import Runs, StoredEvent
from tests.conftest import sqlite_file
from tests.fakes import scripted_container
from tests.waiting import LONG


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path) -> Iterator[str]:
    """The URL of a fresh database with all tables."""
    if request.param == "sqlite":
        yield sqlite_file(tmp_path)
        return
    server = request.getfixturevalue("postgresql")
    address = server.fresh()
    yield address
    server.drop(address)


only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For behaviour that only SQLite has."""


@pytest.fixture
def runs_with(sessions) -> Callable[..., Runs]:
    """A function that makes the Runs of one process on a container; all are stopped at the end."""
    made = []

    def make(container, **options) -> Runs:
        made.append(Runs(sessions, container.strategy_for, **options))
        return made[-1]

    yield make
    for runs in made:
        runs.stop(wait=LONG)


@pytest.fixture
def runs(runs_with) -> Runs:
    """Runs of two kept hops and a verdict."""
    return runs_with(scripted_container())


@pytest.fixture
def run_id(runs) -> str:
    """A run of "me" with a verdict."""
    run_id = runs.start(Claim("The author of Hamlet was born in England."), RunOptions(), "me")
    ended(runs, run_id)
    return run_id


@pytest.fixture
def log(sessions) -> EventStore:
    """A log with one run in it."""
    log = EventStore(sessions)
    log.create_run("run", "owner", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    return log


@pytest.fixture
def leases_with(sessions) -> Callable[..., Leases]:
    """A function that makes the Leases of one process; all are shut down at the end."""
    made = []

    def make(**times) -> Leases:
        made.append(Leases(sessions, **times))
        return made[-1]

    yield make
    for leases in made:
        leases.shutdown()


@pytest.fixture
def wait_long(sessions) -> Callable[..., None]:
    """A function that ages all deletions until they can no longer be undone."""

    def pass_by(seconds: float = UNDO_SECONDS + 1) -> None:
        earlier = datetime.now(UTC) - timedelta(seconds=seconds)
        with sessions.begin() as session:
            for row in (BatchRow, RunRow):
                session.execute(update(row).where(row.deleted_at.is_not(None)).values(deleted_at=earlier))

    return pass_by


def lapse(sessions, run_id: str) -> None:
    """Expire the run's lease, as other processes do after its holder died."""
    freed = {"epoch": RunRow.epoch + 1, "holder": None, "leased_until": None, "cut_offs": RunRow.cut_offs + 1}
    with sessions.begin() as session:
        session.execute(update(RunRow).where(RunRow.id == run_id).values(**freed))


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def ended_row(run_id: str, claim: str, answerer: str = "retriever-reader", **columns) -> dict:
    """Return the row of a run of "me" that reached SUPPORTED at noon, with these columns changed."""
    options = encode_options(RunOptions(answerer=answerer))
    row = {"id": run_id, "owner": "me", "claim": claim, "options": options, "created_at": NOON}
    return {**row, "state": "verdict", "label": "SUPPORTED", **columns}


def row_of(sessions, run_id: str) -> RunRow:
    """Return the run's current row."""
    with sessions() as session:
        return session.get(RunRow, run_id)


def events_until_end(runs: Runs, run_id: str) -> list[StoredEvent]:
    """Follow a run to its end and return its events."""
    seen: list[StoredEvent] = []
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        news = runs.follow(run_id, seen[-1].seq if seen else 0, 5)
        seen += news
        if not news and runs.report(run_id).report.ended:
            return seen
    raise TimeoutError(f"run {run_id} did not end")


def ended(runs: Runs, run_id: str) -> Report:
    """Follow a run to its end and return its report."""
    events_until_end(runs, run_id)
    return runs.report(run_id).report
