"""Runs that ended long ago are purged, by the retention setting or by the operator."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import func, select, update

from app.batches.service import Batches
from app.cli import runs as run_commands
from app.domain.model import Claim, Label, RunOptions
from app.runs.models import EventRow, RunRow
from app.runs.projections import RunFilter
from app.runs.service import Runs
from tests.fakes import FAILING, TWO_HOPS, Gate, scripted_container
from tests.runs.conftest import ended
from tests.terminal import terminal
from tests.waiting import LONG, until

TERMINAL = "\x1b[2J\x1b]0;owned\x07\r"
"""Control sequences that clear the screen, set the window title and return to the start of the line."""

CLAIM = Claim("The author of Hamlet was born in England.")


@pytest.fixture
def age(sessions):
    """A function that moves the end of a run `days` into the past."""

    def pass_by(run_id: str, days: float) -> None:
        then = datetime.now(UTC) - timedelta(days=days)
        with sessions.begin() as session:
            session.execute(update(RunRow).where(RunRow.id == run_id).values(ended_at=then))

    return pass_by


def made(runs: Runs, claim: Claim = CLAIM) -> str:
    run_id = runs.start(claim, RunOptions(), "me")
    ended(runs, run_id)
    return run_id


def events(sessions) -> int:
    with sessions() as session:
        return session.scalar(select(func.count()).select_from(EventRow))


def test_only_unpublished_runs_that_ended_long_ago_are_purged_with_their_events(runs_with, age, sessions):
    runs = runs_with(scripted_container())
    old, published, young = made(runs), made(runs), made(runs)
    runs.publishing.publish(published)
    age(old, 91), age(published, 91), age(young, 89)
    assert runs.deletion.count_older(90) == 1 and runs.deletion.purge_older(90) == 1
    assert [runs.report(each) is None for each in (old, published, young)] == [True, False, False]
    assert events(sessions) == sum(runs.report(each).last_seq for each in (published, young))


def test_a_running_run_is_kept_however_old_it_is(runs_with, age):
    gate = Gate("answer 1")
    runs = runs_with(scripted_container(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    age(run_id, 1000)
    assert runs.deletion.purge_older(0) == 0 and runs.report(run_id)
    gate.open()


def test_the_scheduler_purges_by_the_retention_setting(runs_with, age):
    runs = runs_with(scripted_container(), retention_days=30)
    old, young = made(runs), made(runs)
    age(old, 31)
    runs.serve()
    until(lambda: runs.report(old) is None)
    assert runs.report(young)


def test_the_overview_counts_runs_by_state_and_label(runs_with):
    runs = runs_with(scripted_container(TWO_HOPS, TWO_HOPS, FAILING))
    assert runs.queries.counts() == {} and runs.queries.waiting() == 0
    gone, _, _ = [made(runs) for _ in range(3)]
    runs.deletion.delete(gone)
    assert runs.queries.counts() == {("verdict", "SUPPORTED"): 1, ("failed", ""): 1}
    assert [each.label for each in runs.queries.newest(RunFilter(outcome="SUPPORTED"))] == [Label.SUPPORTED]


def test_the_overview_counts_waiting_runs_but_not_running_ones(runs_with):
    gate = Gate("answer 1")
    runs = runs_with(scripted_container(gate=gate), workers=1)
    for _ in range(3):
        runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    assert runs.queries.waiting() == 2
    gate.open()


@pytest.fixture
def command(runs, sessions):
    """A function that invokes a `runs` command."""
    return partial(terminal(run_commands.runs, runs=runs, batches=Batches(sessions, runs)), "runs")


def test_the_command_line_lists_and_shows_the_runs_of_all_owners(command, runs):
    run_id = made(runs)
    assert command("list").output.rstrip().endswith(f"{run_id}  SUPPORTED  {CLAIM.text}")
    assert command("list", "--outcome", "REFUTED").output == ""
    shown = command("show", run_id).output
    assert "1. Who wrote Hamlet?\n   William Shakespeare\n" in shown and "SUPPORTED (91%)" in shown
    assert f'"id": "{run_id}"' in command("show", run_id, "--json").output
    assert command("show", "none").exit_code == 1


def test_control_characters_in_a_claim_do_not_reach_the_operators_terminal(command, runs):
    run_id = made(runs, Claim(f"A claim {TERMINAL} with more."))
    runs.publishing.publish(run_id)
    for words in (("list",), ("show", run_id), ("published",)):
        output = command(*words).output
        assert "with more." in output and "\x1b" not in output and "\r" not in output


def test_the_command_line_asks_before_it_purges(command, runs, age):
    run_id = made(runs)
    age(run_id, 91)
    assert command("purge", "--older-than", "90d", input="n\n").exit_code == 1 and runs.report(run_id)
    assert "Runs deleted for good: 1." in command("purge", "--older-than", "90d", input="y\n").output
    assert runs.report(run_id) is None
    assert command("purge", "--older-than", "90d").output == "Runs deleted for good: 0.\n"
    assert command("purge", "--older-than", "soon").exit_code == 2
