"""Runs are started, read, listed, followed and shut down."""

from __future__ import annotations

from app.domain.events import RunStarted
from app.domain.model import Claim, HopStatus, LabelSet, RunOptions
from tests.fakes import FAILING, TWO_HOPS, Gate, scripted_container
from tests.runs.conftest import ended, events_until_end
from tests.runs.steady import SteadyContainer
from tests.waiting import LONG

CLAIM = Claim("The author of Hamlet was born in England.")


def test_claim_and_options_are_stored_completely_in_the_first_event(runs_with):
    options = RunOptions(labels=LabelSet.TWO, max_hops=3, modules=(("reasoner", "scripted"),))
    container = scripted_container()
    runs = runs_with(container)
    seen = events_until_end(runs, runs.start(CLAIM, options, "me"))
    assert seen[0].event == RunStarted(CLAIM, options)
    assert container.asked_for == [options]


def test_the_report_of_a_running_run_has_its_hops_and_phase(runs_with):
    gate = Gate("answer 2")
    runs = runs_with(scripted_container(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    report = runs.report(run_id).report
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT, HopStatus.OPEN]
    assert (report.phase, report.usage.calls, report.ended) == ("answer 2", 5, None)
    gate.open()
    assert ended(runs, run_id).ended == "verdict"


def test_concurrent_runs_do_not_mix(runs_with):
    gate = Gate("question 2")
    runs = runs_with(scripted_container(TWO_HOPS, FAILING, gate=gate))
    first = runs.start(Claim("The first."), RunOptions(), "one")
    assert gate.reached.wait(LONG)
    gate.reached.clear()
    second = runs.start(Claim("The second."), RunOptions(max_hops=2), "two")
    assert gate.reached.wait(LONG), "the second run goes on while the first is held"
    gate.open()
    assert (ended(runs, first).claim.text, ended(runs, first).ended) == ("The first.", "verdict")
    assert (ended(runs, second).claim.text, ended(runs, second).ended) == ("The second.", "failed")


def test_stopping_releases_running_and_waiting_runs_to_the_next_process(runs_with):
    gate = Gate("answer 2")
    runs = runs_with(SteadyContainer(before_step=gate), workers=1)
    running, waiting = (runs.start(CLAIM, RunOptions(), "me") for _ in range(2))
    assert gate.reached.wait(LONG)
    runs.stop()
    late = runs.start(CLAIM, RunOptions(), "me")
    assert [runs.report(each).report.ended for each in (running, waiting, late)] == [None] * 3
    gate.open()
    runs.stop(wait=LONG)
    next_runs = runs_with(SteadyContainer())
    for run_id in (running, waiting, late):
        next_runs.wake(run_id)
        assert ended(next_runs, run_id).verdict == TWO_HOPS.verdict
