"""Every claim gets one run, people's runs go first, and a batch can be paused, cancelled and retried."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from sqlalchemy import select, update

from app.batches.service import BAD_INPUT, DELETED, MIN_QUEUED, WAITING, Batches, BatchState
from app.domain.model import BatchLine, Claim, Label, RunOptions
from app.runs.jobs import ThreadJobs
from app.runs.models import BATCHES, PEOPLE, BatchRow, RunRow
from app.runs.service import Limits
from tests.fakes import FAILING, TWO_HOPS, Gate, scripted_container
from tests.waiting import LONG, until


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that holds every run before its first question until the test opens it or ends."""
    gate = Gate("question 1")
    yield gate
    gate.open()


def lines(number: int) -> list[BatchLine]:
    return [BatchLine(Claim(f"Claim number {each}.")) for each in range(1, number + 1)]


def begun(batches: Batches, number: int, **more) -> str:
    """Start a batch of `number` claims and return its id."""
    return batches.start(lines(number), RunOptions(), "me", "Mine", **more)


def stored(batches: Batches, number: int, owner: str = "me") -> str:
    """Store a batch of which no run was started yet, and return its id."""
    with patch.object(batches, "feed"):
        return batches.start(lines(number), RunOptions(), owner, "Mine")


def fed_until(batches: Batches, batch_id: str, state: BatchState = BatchState.DONE) -> None:
    """Feed repeatedly, as the scheduler does, until the batch is in that state."""

    def reached() -> bool:
        batches.feed()
        return batches.get(batch_id).state is state

    until(reached)


def runs_of(sessions, batch_id: str) -> list[str]:
    with sessions() as session:
        return list(session.scalars(select(RunRow.id).where(RunRow.batch == batch_id)))


def test_every_claim_gets_its_verdict_and_the_batch_is_done(batches_with, sessions):
    batches = batches_with(scripted_container())
    original = Claim("A claim that somebody made.", "Somebody", "2020-10-31")
    batch_id = batches.start([BatchLine(original), *lines(11)], RunOptions(), "me", "Mine")
    fed_until(batches, batch_id)
    claims = batches.claims(batch_id)
    assert [each.number for each in claims] == list(range(1, 13)) and claims[0].claim == original
    assert {(each.state, each.label, each.confidence) for each in claims} == {("verdict", Label.SUPPORTED, 0.91)}
    assert sorted(each.run_id for each in claims) == sorted(runs_of(sessions, batch_id))
    progress = batches.progress(batch_id)
    assert progress.counts == {"SUPPORTED": 12} and (progress.done, progress.total, progress.failed) == (12, 12, 0)
    assert (
        batches.runs.report(claims[0].run_id).report.claim == original
        and batches.runs.report(claims[0].run_id).owner == "me"
    )


def test_simultaneous_feeders_queue_a_few_runs_and_start_no_claim_twice(batches_with, sessions, gate):
    one, other = (batches_with(scripted_container(gate=gate), workers=1) for _ in range(2))
    batch_id = begun(one, 20)
    feeders = [threading.Thread(target=each.feed) for each in (one, other) * 4]
    for each in feeders:
        each.start()
    for each in feeders:
        each.join()
    assert MIN_QUEUED <= len(runs_of(sessions, batch_id)) < 20
    gate.open()
    fed_until(other, batch_id)
    assert len(runs_of(sessions, batch_id)) == 20
    assert one.progress(batch_id).counts == {"SUPPORTED": 20}


def test_a_short_batch_is_not_held_up_by_a_long_one(batches_with, gate):
    batches = batches_with(scripted_container(gate=gate), workers=1)
    long = stored(batches, 100)
    short = stored(batches, 3, "you")
    batches.feed()
    assert batches.progress(short).counts == {"running": 3}
    assert batches.progress(long).counts == {"running": MIN_QUEUED - 3, WAITING: 100 - MIN_QUEUED + 3}


def test_batches_whose_claims_have_all_been_started_do_not_hold_up_a_later_one(batches_with, gate):
    batches = batches_with(scripted_container(gate=gate), workers=4)
    for _ in range(MIN_QUEUED):
        begun(batches, 1)
    later = begun(batches, 3)

    def is_started() -> bool:
        batches.feed()
        return batches.progress(later).counts == {"running": 3}

    until(is_started)


def test_a_batch_of_another_version_is_reported_once_and_says_why_it_is_held_up(batches_with, sessions, caplog):
    batches = batches_with(scripted_container())
    batch_id = stored(batches, 3)
    with sessions.begin() as session:
        session.execute(update(BatchRow).values(options={"max_hops": "of another version"}))
    for _ in range(2):
        batches.feed()
    assert caplog.text.count("was stored by another version") == 1
    assert "stored by another version" in batches.held_up(batch_id)
    other = begun(batches, 1)
    assert batches.held_up(other) is None
    fed_until(batches, other)
    assert batches.progress(batch_id).counts == {WAITING: 3}


def test_a_batch_neither_delays_nor_blocks_a_persons_run(batches_with, gate):
    batches = batches_with(scripted_container(gate=gate), workers=1, max_waiting=1)
    batch_id = begun(batches, 5)
    assert gate.reached.wait(LONG)
    mine = batches.runs.start(Claim("A claim of mine."), RunOptions(), "me")
    assert batches.runs.place(mine).position == 1
    last = batches.claims(batch_id)[-1].run_id
    assert batches.runs.place(last).position == 5


def test_free_runs_are_found_by_queue(batches_with, leases_with):
    batches = batches_with(scripted_container(), jobs=Idle)
    mine = batches.runs.start(Claim("A claim of mine."), RunOptions(), "me")
    batch_id = begun(batches, 1)
    leases = leases_with()
    assert leases.free_runs(queue=PEOPLE) == (mine,)
    assert leases.free_runs(queue=BATCHES) == (batches.claims(batch_id)[0].run_id,)


class Idle(ThreadJobs):
    """A job runner that carries nothing out."""

    def submit(self, run_id: str, queue: str = PEOPLE) -> None: ...


def test_a_paused_batch_starts_no_run_until_it_is_resumed(batches_with):
    batches = batches_with(scripted_container())
    batch_id = stored(batches, 3)
    assert batches.pause(batch_id) and not batches.pause(batch_id)
    batches.feed()
    assert batches.progress(batch_id).counts == {WAITING: 3}
    assert batches.resume(batch_id) and not batches.resume(batch_id)
    fed_until(batches, batch_id)


def test_cancelling_interrupts_running_runs_and_starts_no_more(batches_with, gate):
    batches = batches_with(scripted_container(gate=gate), workers=1)
    batch_id = begun(batches, 20)
    assert gate.reached.wait(LONG)
    assert batches.cancel(batch_id) and not batches.cancel(batch_id)
    batches.feed()
    assert batches.progress(batch_id).counts == {"interrupted": MIN_QUEUED, WAITING: 20 - MIN_QUEUED}
    assert batches.claims(batch_id)[0].problem == "Its batch was cancelled."
    assert batches.retry(batch_id) == 0 and not batches.resume(batch_id)


def test_retrying_gives_failed_claims_a_new_run_and_changes_no_others(batches_with):
    batches = batches_with(scripted_container(FAILING, TWO_HOPS), workers=1)
    batch_id = begun(batches, 3)
    fed_until(batches, batch_id)
    before = batches.claims(batch_id)
    assert batches.progress(batch_id).counts == {"failed": 1, "SUPPORTED": 2}
    assert before[0].problem
    assert batches.retry(batch_id) == 1
    fed_until(batches, batch_id)
    after = batches.claims(batch_id)
    assert batches.progress(batch_id).counts == {"SUPPORTED": 3}
    assert after[0].run_id != before[0].run_id and after[1:] == before[1:]
    assert batches.retry(batch_id) == 0 and batches.get(batch_id).state is BatchState.DONE


def test_an_invalid_line_is_listed_with_its_problem_and_never_run(batches_with, sessions):
    batches = batches_with(scripted_container())
    bad = BatchLine(Claim("?"), "Line 2: The claim is too short.")
    batch_id = batches.start([*lines(1), bad], RunOptions(), "me", "Mine")
    fed_until(batches, batch_id)
    assert len(runs_of(sessions, batch_id)) == 1
    claim = batches.claims(batch_id)[1]
    assert (claim.state, claim.problem, claim.run_id) == (BAD_INPUT, "Line 2: The claim is too short.", None)


def test_a_deleted_run_is_counted_as_deleted_and_not_retried(batches_with):
    batches = batches_with(scripted_container(FAILING))
    batch_id = begun(batches, 1)
    fed_until(batches, batch_id)
    batches.runs.deletion.delete(batches.claims(batch_id)[0].run_id)
    assert batches.progress(batch_id).counts == {DELETED: 1}
    assert batches.claims(batch_id)[0].run_id is None
    assert batches.retry(batch_id) == 0


def test_after_the_daily_limit_no_run_starts_and_the_reason_is_given(batches_with):
    batches = batches_with(scripted_container(), limits=Limits(day_calls=1), workers=1)
    batch_id = begun(batches, 60)
    until(lambda: batches.held_up(batch_id) is not None)
    assert "limit on calls a day was reached: 1" in batches.held_up(batch_id)
    batches.feed()
    counts = batches.progress(batch_id).counts
    batches.feed()
    assert counts[WAITING] >= 60 - MIN_QUEUED
    assert batches.progress(batch_id).counts[WAITING] == counts[WAITING]
    assert batches.get(batch_id).state is BatchState.GOING


def test_the_history_lists_no_runs_of_batches(batches_with):
    batches = batches_with(scripted_container())
    fed_until(batches, begun(batches, 2))
    assert batches.runs.recent("me") == ()


def test_the_scheduler_feeds_batches(batches_with):
    batches = batches_with(scripted_container())
    batch_id = stored(batches, 2)
    batches.runs.serve()
    until(lambda: batches.progress(batch_id).counts == {"SUPPORTED": 2})


def test_an_unknown_batch_is_not_found(batches_with):
    batches = batches_with(scripted_container())
    assert batches.get("nothing") is None and batches.get("\0") is None
    assert not batches.cancel("nothing") and batches.retry("nothing") == 0


def test_all_claims_of_a_long_batch_are_returned_in_order(batches_with):
    batches = batches_with(scripted_container())
    batch_id = stored(batches, 1203)
    assert [each.number for each in batches.all_claims(batch_id)] == list(range(1, 1204))


def test_an_old_batch_is_removed_once_its_last_run_was_purged(batches_with):
    batches = batches_with(scripted_container())
    kept, going = begun(batches, 1), stored(batches, 1)
    fed_until(batches, kept), batches.pause(going)
    batches.forget(0)
    assert batches.get(kept) and batches.get(going)
    batches.runs.deletion.purge_where(RunRow.batch == kept)
    batches.forget(0)
    assert batches.get(kept) is None and batches.claims(kept) == ()
