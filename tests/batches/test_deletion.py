"""A deleted batch is hidden with its runs, can be restored for a while, and is then purged."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select

from app import cli
from app.batches.service import WAITING, BatchState
from app.domain.model import Question, RunOptions
from app.runs.lifecycle import PURGE_LIMIT
from app.runs.models import BatchClaimRow, BatchRow, RunRow
from tests.batches.test_batches import begun, fed_until, runs_of, stored
from tests.fakes import FAILING, Gate, scripted_container
from tests.runs.conftest import ended
from tests.terminal import terminal
from tests.waiting import LONG


@pytest.fixture
def done(batches) -> str:
    """A batch of two claims of "me" that is done."""
    batch_id = begun(batches, 2)
    fed_until(batches, batch_id)
    return batch_id


def count(sessions, row) -> int:
    with sessions() as session:
        return session.scalar(select(func.count()).select_from(row))


def test_a_deleted_batch_is_hidden_with_its_runs_but_not_their_branches(batches, done):
    first, second = (each.run_id for each in batches.claims(done))
    child = batches.runs.branch(first, 2, Question("Where was he born?"), RunOptions(), "me")
    ended(batches.runs, child)
    assert batches.delete(done) and not batches.delete(done)
    assert batches.get(done) is None and batches.of_owner("me") == ()
    assert [each is None for each in map(batches.runs.report, (first, second, child))] == [True, True, False]
    assert batches.retry(done) == 0 and not batches.pause(done)


def test_deleting_a_running_batch_cancels_it_and_starts_no_more_runs(batches_with, sessions):
    gate = Gate("question 1")
    batches = batches_with(scripted_container(gate=gate), workers=1)
    batch_id = begun(batches, 30)
    assert gate.reached.wait(LONG)
    before = len(runs_of(sessions, batch_id))
    batches.delete(batch_id)
    batches.feed()
    gate.open()
    assert len(runs_of(sessions, batch_id)) == before and batches.unfinished(batch_id) == ()
    assert batches.restore(batch_id, "me")
    assert batches.get(batch_id).state is BatchState.CANCELLED
    assert batches.progress(batch_id).counts == {"interrupted": before, WAITING: 30 - before}
    assert batches.claims(batch_id)[0].problem == "Its batch was deleted."


def test_its_owner_can_restore_a_batch_with_the_runs_deleted_with_it(batches, done):
    first, second = (each.run_id for each in batches.claims(done))
    batches.runs.deletion.delete(first)
    time.sleep(0.01)  # SQLite's clock counts milliseconds
    batches.delete(done)
    assert [each.id for each in batches.restorable("me")] == [done]
    assert batches.restorable("you") == () and not batches.restore(done, "you")
    assert batches.restore(done, "me") and not batches.restore(done, "me")
    assert batches.get(done).state is BatchState.DONE and batches.restorable("me") == ()
    assert batches.runs.report(second) is not None
    assert batches.runs.report(first) is None, "it was deleted by itself"


def test_a_run_deleted_with_its_batch_is_only_restored_with_it(batches, done):
    first, second = (each.run_id for each in batches.claims(done))
    batches.runs.deletion.delete(first)
    assert [each.id for each in batches.runs.deletion.restorable("me")] == [first]
    batches.delete(done)
    assert batches.runs.deletion.restorable("me") == ()
    assert not batches.runs.deletion.restore(first, "me") and not batches.runs.deletion.restore(second, "me")


def test_after_the_undo_period_a_batch_is_purged_with_its_claims_and_runs(batches, done, sessions, wait_long):
    kept = stored(batches, 3)
    batches.delete(done)
    batches.purge(), batches.runs.deletion.purge()
    assert count(sessions, BatchRow) == 2, "not yet"
    wait_long()
    assert not batches.restore(done, "me") and batches.restorable("me") == ()
    batches.purge(), batches.runs.deletion.purge()
    assert (count(sessions, BatchRow), count(sessions, BatchClaimRow), count(sessions, RunRow)) == (1, 3, 0)
    assert batches.get(kept) is not None


def test_deleting_a_batch_deletes_the_runs_of_earlier_attempts(batches_with, sessions):
    batches = batches_with(scripted_container(FAILING), workers=1)
    batch_id = begun(batches, 1)
    fed_until(batches, batch_id)
    batches.retry(batch_id)
    fed_until(batches, batch_id)
    failed = runs_of(sessions, batch_id)
    batches.delete(batch_id)
    assert len(failed) == 2 and [batches.runs.report(each) for each in failed] == [None, None]


def test_one_sweep_purges_at_most_the_limit_of_a_long_batch(batches, sessions, wait_long):
    rows = [
        {"id": f"run {n}", "owner": "me", "claim": "x", "options": {}, "state": "verdict", "batch": "b"}
        for n in range(PURGE_LIMIT + 1)
    ]
    now = datetime.now(UTC)
    with sessions.begin() as session:
        session.add_all(RunRow(**row, created_at=now, deleted_at=now) for row in rows)
    wait_long()
    assert [len(batches.runs.deletion.purge()) for _ in range(3)] == [PURGE_LIMIT, 1, 0]


def test_a_form_that_is_sent_again_after_its_batch_was_deleted_makes_another(batches):
    first = begun(batches, 1, form="form")
    batches.delete(first)
    second = begun(batches, 1, form="form")
    assert second != first and batches.get(second) is not None


def test_an_unknown_batch_is_neither_deleted_nor_restored(batches):
    assert not batches.delete("nothing") and not batches.restore("nothing", "me")
    assert not batches.restore("\0", "me")


def test_purging_runs_removes_finished_batches_without_runs(batches, done):
    waiting = stored(batches, 1)
    command = terminal(cli.runs.runs, runs=batches.runs, batches=batches)
    purged = command("runs", "purge", "--older-than", "0d", "--yes")
    assert purged.output == "Runs deleted for good: 2.\n"
    assert batches.get(done) is None and batches.get(waiting) is not None
