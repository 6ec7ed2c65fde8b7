"""A deleted run is hidden at once, can be restored for a while, and is then purged with all its data."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, insert, select

from app.domain.errors import InvalidInput
from app.domain.events import RunInterrupted
from app.domain.instrumentation import Call, cached_call
from app.domain.messages import Code
from app.domain.model import Claim, Question, RunOptions
from app.runs.call_log import CallLog
from app.runs.lifecycle import UNDO_SECONDS
from app.runs.models import EventRow, ModelCallRow, NoteRow, RunCallRow
from app.runs.service import Runs
from tests.fakes import Gate, scripted_container
from tests.runs.conftest import ended, row_of
from tests.waiting import LONG, LONGER

CLAIM = Claim("The author of Hamlet was born in England.")


def count(sessions, table, run_id: str) -> int:
    with sessions() as session:
        return session.scalar(select(func.count()).select_from(table).where(table.run_id == run_id))


def test_a_deleted_run_is_gone_from_everything_that_reads_runs(runs, run_id):
    child = runs.branch(run_id, 2, Question("Where was he born?"), RunOptions(), "me")
    ended(runs, child)
    assert runs.deletion.delete(child)
    assert runs.report(child) is None
    assert runs.follow(child, 0, 0) == ()
    assert runs.place(child) is None
    assert runs.queries.branches(run_id) == ()
    assert [each.id for each in runs.recent("me")] == [run_id]
    assert not runs.interrupt(child, "No.") and not runs.conclude(child)


def test_deleting_a_running_run_stops_it_and_notifies_its_followers(runs_with):
    gate = Gate("answer 2")
    runs = runs_with(scripted_container(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    last = runs.report(run_id).last_seq
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(runs.follow, run_id, last, LONGER)
        assert runs.deletion.delete(run_id)
        heard = follower.result(LONG)
    assert [each.event for each in heard] == [RunInterrupted(Code.DELETED())]
    assert runs.follow(run_id, heard[-1].seq, 20) == runs.follow(run_id, 0, 20) == ()
    gate.open()
    runs.deletion.restore(run_id, "me")
    assert runs.report(run_id).report.problem == Code.DELETED()


def test_a_restored_run_is_unchanged(runs, run_id):
    before = runs.report(run_id)
    runs.deletion.delete(run_id)
    assert [each.id for each in runs.deletion.restorable("me")] == [run_id]
    assert runs.deletion.restore(run_id, "me")
    assert runs.report(run_id) == before
    assert runs.deletion.restorable("me") == ()


def test_exactly_one_of_simultaneous_deletions_succeeds(runs, run_id):
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(runs.deletion.delete, [run_id] * 4)) == [False, False, False, True]


def test_deleting_or_restoring_a_missing_run_changes_nothing(runs, run_id):
    assert not runs.deletion.delete("never")
    for never in ("never", "\0"):
        assert not runs.deletion.restore(never, "me")
        assert not runs.deletion.of_owner(never, "me") and not runs.report(never)
    assert not runs.deletion.of_owner(run_id, "another") and runs.deletion.of_owner(run_id, "me").claim == CLAIM.text
    assert not runs.deletion.restore(run_id, "me")
    assert runs.report(run_id)


def test_nothing_is_purged_while_the_deletion_can_be_undone(runs, run_id, wait_long):
    runs.deletion.delete(run_id)
    wait_long(UNDO_SECONDS - 60)
    assert runs.deletion.purge() == ()
    assert runs.deletion.restore(run_id, "me")


def test_after_the_undo_period_a_run_is_purged_with_all_its_data(runs, run_id, wait_long, sessions):
    with sessions.begin() as session:
        session.execute(insert(NoteRow).values(run_id=run_id, hop=0, text="Mine.", written_at=datetime.now(UTC)))
        own = insert(ModelCallRow).values(scope=run_id, key="k", reply="r", size_bytes=1, used_at=datetime.now(UTC))
        session.execute(own)
    runs.deletion.delete(run_id)
    wait_long()
    assert not runs.deletion.restore(run_id, "me")
    assert runs.deletion.restorable("me") == ()
    assert runs.deletion.purge() == (run_id,)
    assert row_of(sessions, run_id) is None
    assert [count(sessions, table, run_id) for table in (EventRow, NoteRow, RunCallRow)] == [0] * 3
    with sessions() as session:
        assert session.scalars(select(ModelCallRow.key)).all() == []
    assert runs.deletion.purge() == ()


def test_a_branch_outlives_its_deleted_parent(runs, run_id, wait_long):
    child = runs.branch(run_id, 2, Question("Where was he born?"), RunOptions(), "me")
    before = ended(runs, child)
    runs.deletion.delete(run_id)
    wait_long()
    runs.deletion.purge()
    assert runs.report(child).report == before
    assert before.branch.parent == run_id


class AskingContainer:
    """A container whose runs make the costly calls `prompts` before they play the script."""

    def __init__(self, *prompts: str) -> None:
        self.prompts = prompts
        self.made: list[str] = []

    def strategy_for(self, options: RunOptions):
        prompts = iter(self.prompts)

        def ask(step: str) -> None:
            for prompt in prompts:
                cached_call(call(prompt), lambda prompt=prompt: self.made.append(prompt) or f"reply to {prompt}")

        return scripted_container(gate=ask).strategy_for(options)


def call(prompt: str) -> Call:
    return Call("a model", {"prompt": prompt}, costly=True)


@pytest.fixture
def calls(sessions) -> CallLog:
    return CallLog(sessions, 1)


def asked(runs_with, calls, *prompts: str, fresh: bool = False) -> tuple[Runs, str]:
    """Carry out a run that makes these calls; return its Runs and its id."""
    runs = runs_with(AskingContainer(*prompts), calls=calls)
    run_id = runs.start(CLAIM, RunOptions(fresh=fresh), "me")
    ended(runs, run_id)
    return runs, run_id


def purged(runs: Runs, run_id: str, wait_long) -> None:
    runs.deletion.delete(run_id)
    wait_long()
    runs.deletion.purge()


def test_purging_a_run_deletes_only_the_replies_that_no_other_run_used(runs_with, calls, wait_long):
    runs, first = asked(runs_with, calls, "mine", "shared")
    _, second = asked(runs_with, calls, "shared", "yours")
    calls.for_run("no run").put(call("of no run"), "kept")
    runs.deletion.delete(first)
    assert calls.for_run("no run").get(call("mine")), "it could still be had back"
    purged(runs, first, wait_long)
    kept = [each for each in ("mine", "shared", "yours", "of no run") if calls.for_run("no run").get(call(each))]
    assert kept == ["shared", "yours", "of no run"]
    purged(runs, second, wait_long)
    assert calls.size()[0] == 1


def test_a_deleted_run_cannot_be_branched(runs, run_id):
    runs.deletion.delete(run_id)
    with pytest.raises(InvalidInput, match="was deleted"):
        runs.branch(run_id, 1, Question("Who?"), RunOptions(), "me")
