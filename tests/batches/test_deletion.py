"""A deleted batch is hidden with its runs, can be restored for a while, and is then purged."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from app import cli
from app.batches.service import WAITING, BatchState
from app.domain.model import Question, RunOptions
from app.runs.lifecycle import PURGE_LIMIT, UNDO_SECONDS
from app.runs.models import BatchClaimRow, BatchRow, RunRow
from tests.batches.test_batches import begun, fed_until, lines, runs_of
from tests.fakes import FAILING, Gate, scripted_container
from tests.runs.conftest import ended
from tests.waiting import LONG


@pytest.fixture
def done(runs) -> str:
    """A batch of two claims of "me" that is done."""
    batch_id = begun(runs, 2)
    fed_until(runs, batch_id)
    return batch_id


@pytest.fixture
def wait_long(sessions) -> Callable[[], None]:
    """A function that ages all deletions until they can no longer be undone."""

    def pass_by() -> None:
        earlier = datetime.now(UTC) - timedelta(seconds=UNDO_SECONDS + 1)
        with sessions.begin() as session:
            for row in (BatchRow, RunRow):
                session.execute(update(row).where(row.deleted_at.is_not(None)).values(deleted_at=earlier))

    return pass_by


def count(sessions, row) -> int:
    with sessions() as session:
        return session.scalar(select(func.count()).select_from(row))


def test_a_deleted_batch_is_hidden_with_its_runs_but_not_their_branches(runs, done):
    first, second = (each.run_id for each in runs.batches.claims(done))
    child = runs.branch(first, 2, Question("Where was he born?"), RunOptions(), "me")
    ended(runs, child)
    assert runs.batch_deletion.delete(done) and not runs.batch_deletion.delete(done)
    assert runs.batches.get(done) is None and runs.batches.of_owner("me") == ()
    assert runs.report(first) is None and runs.report(second) is None and runs.report(child) is not None
    assert runs.batch_commands.retry(done) == 0 and not runs.batch_commands.pause(done)


def test_deleting_a_running_batch_cancels_it_and_starts_no_more_runs(runs_with, sessions):
    gate = Gate("question 1")
    runs = runs_with(scripted_container(gate=gate), workers=1)
    batch_id = begun(runs, 30)
    assert gate.reached.wait(LONG)
    before = len(runs_of(sessions, batch_id))
    runs.batch_deletion.delete(batch_id)
    runs.feeder.feed()
    gate.open()
    assert len(runs_of(sessions, batch_id)) == before and runs.batch_commands.unfinished(batch_id) == ()
    assert runs.batch_deletion.restore(batch_id, "me")
    assert runs.batches.get(batch_id).state is BatchState.CANCELLED
    assert runs.batches.progress(batch_id).counts == {"interrupted": before, WAITING: 30 - before}
    assert runs.batches.claims(batch_id)[0].problem == "Its batch was deleted."


def test_its_owner_can_restore_a_batch_with_the_runs_deleted_with_it(runs, done):
    first, second = (each.run_id for each in runs.batches.claims(done))
    runs.deletion.delete(first)
    time.sleep(0.01)  # SQLite's clock counts milliseconds
    runs.batch_deletion.delete(done)
    assert [each.id for each in runs.batch_deletion.restorable("me")] == [done]
    assert runs.batch_deletion.restorable("you") == () and not runs.batch_deletion.restore(done, "you")
    assert runs.batch_deletion.restore(done, "me") and not runs.batch_deletion.restore(done, "me")
    assert runs.batches.get(done).state is BatchState.DONE and runs.batch_deletion.restorable("me") == ()
    assert runs.report(second) is not None
    assert runs.report(first) is None, "it was deleted by itself"


def test_a_run_deleted_with_its_batch_is_only_restored_with_it(runs, done):
    first, second = (each.run_id for each in runs.batches.claims(done))
    runs.deletion.delete(first)
    assert [each.id for each in runs.deletion.restorable("me")] == [first]
    runs.batch_deletion.delete(done)
    assert runs.deletion.restorable("me") == ()
    assert not runs.deletion.restore(first, "me") and not runs.deletion.restore(second, "me")


def test_after_the_undo_period_a_batch_is_purged_with_its_claims_and_runs(runs, done, sessions, wait_long):
    kept = runs.batches.create(lines(3), RunOptions(), "me", "Kept")
    runs.batch_deletion.delete(done)
    runs.batch_deletion.purge(), runs.deletion.purge()
    assert count(sessions, BatchRow) == 2, "not yet"
    wait_long()
    assert not runs.batch_deletion.restore(done, "me") and runs.batch_deletion.restorable("me") == ()
    runs.batch_deletion.purge(), runs.deletion.purge()
    assert (count(sessions, BatchRow), count(sessions, BatchClaimRow), count(sessions, RunRow)) == (1, 3, 0)
    assert runs.batches.get(kept) is not None


def test_deleting_a_batch_deletes_the_runs_of_earlier_attempts(runs_with, sessions):
    runs = runs_with(scripted_container(FAILING), workers=1)
    batch_id = begun(runs, 1)
    fed_until(runs, batch_id)
    runs.batch_commands.retry(batch_id)
    fed_until(runs, batch_id)
    failed = runs_of(sessions, batch_id)
    runs.batch_deletion.delete(batch_id)
    assert len(failed) == 2 and [runs.report(each) for each in failed] == [None, None]


def test_one_sweep_purges_at_most_the_limit_of_a_long_batch(runs, sessions, wait_long):
    rows = [
        {"id": f"run {n}", "owner": "me", "claim": "x", "options": {}, "state": "verdict", "batch": "b"}
        for n in range(PURGE_LIMIT + 1)
    ]
    now = datetime.now(UTC)
    with sessions.begin() as session:
        session.add_all(RunRow(**row, created_at=now, deleted_at=now) for row in rows)
    wait_long()
    assert [len(runs.deletion.purge()) for _ in range(3)] == [PURGE_LIMIT, 1, 0]


def test_a_form_that_is_sent_again_after_its_batch_was_deleted_makes_another(runs):
    first = begun(runs, 1, form="form")
    runs.batch_deletion.delete(first)
    second = begun(runs, 1, form="form")
    assert second != first and runs.batches.get(second) is not None


def test_an_unknown_batch_is_neither_deleted_nor_restored(runs):
    assert not runs.batch_deletion.delete("nothing") and not runs.batch_deletion.restore("nothing", "me")
    assert not runs.batch_deletion.restore("\0", "me")


def test_purging_runs_removes_finished_batches_without_runs(runs, done):
    app = Flask("test")
    app.extensions["hopcheck"] = type("Hopcheck", (), {"runs": runs})
    app.cli.add_command(cli.runs.runs)
    waiting = runs.batches.create(lines(1), RunOptions(), "me", "Waiting")
    purged = app.test_cli_runner().invoke(args=["runs", "purge", "--older-than", "0d", "--yes"])
    assert purged.output == "Runs deleted for good: 2.\n"
    assert runs.batches.get(done) is None and runs.batches.get(waiting) is not None
