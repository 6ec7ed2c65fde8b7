"""The owner's stop or finish command reaches a run wherever it is carried out, and its results are kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.domain.messages import Code
from app.domain.model import Claim, HopStatus, RunOptions
from app.domain.ports import RunCommand
from app.runs.service import Runs
from app.strategies.hop_loop import MAX_EARLY_CONFIDENCE
from tests.fakes import TWO_HOPS, Gate, scripted_container
from tests.runs.conftest import ended, lapse
from tests.runs.steady import SteadyContainer
from tests.waiting import LONG

CLAIM = Claim("The author of Hamlet was born in England.")
STOPPED = Code.STOPPED_BY_OWNER()


@pytest.fixture
def held(runs_with):
    """A function that starts a run held before its second answer; it returns the Runs, the id and the gate."""
    gates = []

    def start(container=scripted_container) -> tuple[Runs, str, Gate]:
        gate = Gate("answer 2")
        gates.append(gate)
        runs = runs_with(container(gate=gate) if container is scripted_container else container(before_step=gate))
        run_id = runs.start(CLAIM, RunOptions(), "me")
        assert gate.reached.wait(LONG)
        return runs, run_id, gate

    yield start
    for gate in gates:
        gate.open()


def test_a_stopped_run_ends_at_once_keeps_finished_hops_and_marks_the_open_one(held):
    runs, run_id, _ = held()
    assert runs.interrupt(run_id, STOPPED)
    report = runs.report(run_id).report
    assert (report.ended, report.problem) == ("interrupted", STOPPED)
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT, HopStatus.INTERRUPTED]


def test_a_call_that_returns_after_the_stop_adds_nothing(held):
    runs, run_id, gate = held()
    runs.interrupt(run_id, STOPPED)
    before = runs.report(run_id)
    gate.open()
    runs.stop(wait=LONG)
    assert runs.report(run_id) == before


def test_exactly_one_of_simultaneous_stops_takes_effect(held):
    runs, run_id, _ = held()
    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(lambda n: runs.interrupt(run_id, f"word {n}"), range(8)))
    assert sorted(heard) == [False] * 7 + [True]
    assert runs.report(run_id).report.problem == f"word {heard.index(True)}"


def test_a_waiting_run_can_be_stopped_before_it_begins(held):
    runs, _, gate = held()
    waiting = [runs.start(CLAIM, RunOptions(), "me") for _ in range(2)]
    assert all(runs.interrupt(each, STOPPED) for each in waiting)
    gate.open()
    assert [ended(runs, each).problem for each in waiting] == [STOPPED] * 2


def test_the_finish_command_interrupts_the_open_hop_and_concludes_from_the_kept_ones(held):
    runs, run_id, gate = held()
    assert runs.conclude(run_id) and runs.conclude(run_id), "asking twice changes nothing"
    assert runs.report(run_id).command is RunCommand.FINISH_NOW
    gate.open()
    report = ended(runs, run_id)
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT, HopStatus.INTERRUPTED]
    early = replace(TWO_HOPS.verdict, confidence=MAX_EARLY_CONFIDENCE)
    assert (report.verdict, report.stopped_because) == (early, Code.ASKED_BY_OWNER())


def test_the_finish_command_reaches_the_process_that_resumes_the_run(held, runs_with, sessions):
    runs, run_id, _ = held(SteadyContainer)
    runs.conclude(run_id)
    lapse(sessions, run_id)
    container = SteadyContainer()
    others = runs_with(container)
    others.wake(run_id)
    report = ended(others, run_id)
    assert (report.stopped_because, report.resumed) == (Code.ASKED_BY_OWNER(), 1)
    assert container.steady.calls == ["conclusion 1"], "no further hop is asked"
