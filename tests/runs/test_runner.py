"""Every run ends: with a verdict, or with one clear sentence on the page and the details in the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from app.reasoning.errors import ModelUnavailable
from app.reasoning.events import Event, PhaseEntered, QuestioningEnded, RunInterrupted, RunStarted
from app.reasoning.report import fold
from app.reasoning.types import Claim, HopStatus, RunOptions
from app.runs.event_log import EventLog
from app.runs.runner import SOMETHING_WRONG, Runner, StopSignal
from tests.fakes import FAILING, ONE_SET_ASIDE, TWO_HOPS, FakeWiring, Gate, Script, ScriptedHop, scripted_wiring
from tests.runs.conftest import ended, events_until_end

CLAIM = Claim("The author of Hamlet was born in England.")


class OneStrategy:
    """A wiring of one strategy that yields the given events."""

    def __init__(self, *events: Event) -> None:
        self.events = events

    def strategy_for(self, options: RunOptions) -> OneStrategy:
        return self

    def run(self, claim, options, so_far=None, control=None) -> Iterator[Event]:
        yield from self.events


def test_a_crash_ends_the_run_with_a_general_sentence_and_the_details_in_the_log(runs_with, caplog):
    runs = runs_with(scripted_wiring(FAILING))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    report = ended(runs, run_id)
    assert (report.ended, report.problem) == ("failed", SOMETHING_WRONG)
    assert report.hops[0].status is HopStatus.KEPT, "what was found stays"
    (record,) = [record for record in caplog.records if record.exc_info]
    assert run_id in record.message and "a secret" in str(record.exc_info[1])


def test_a_crash_in_one_run_leaves_the_worker_fit_for_the_next(runs_with):
    runs = runs_with(scripted_wiring(FAILING, TWO_HOPS), workers=1)
    first, second = (runs.start(CLAIM, RunOptions(), "me") for _ in range(2))
    assert [ended(runs, each).ended for each in (first, second)] == ["failed", "verdict"]


def test_a_missing_model_ends_the_run_with_what_mends_it(runs_with):
    runs = runs_with(scripted_wiring(refusal=ModelUnavailable("The judge is missing", mend="make setup")))
    report = ended(runs, runs.start(CLAIM, RunOptions(), "me"))
    assert (report.ended, report.problem) == ("failed", "The judge is missing. Mend it with: make setup")


def test_a_bug_in_making_the_strategy_ends_the_run_too(runs_with):
    runs = runs_with(scripted_wiring(refusal=KeyError("judge")))
    assert ended(runs, runs.start(CLAIM, RunOptions(), "me")).problem == SOMETHING_WRONG


def test_a_strategy_that_ends_without_a_terminal_event_does_not_leave_the_run_open(runs_with, caplog):
    for wiring in (OneStrategy(QuestioningEnded("enough")), OneStrategy()):
        runs = runs_with(wiring)
        assert ended(runs, runs.start(CLAIM, RunOptions(), "me")).problem == SOMETHING_WRONG
    assert "without a terminal event" in caplog.text


def test_phases_and_costs_are_stored_when_they_are_reported_before_the_steps_result(runs_with):
    gate = Gate("validation 1")
    runs = runs_with(scripted_wiring(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(30)
    assert runs.follow(run_id, 0, 0)[-1].event == PhaseEntered("validation 1")
    gate.open()
    kinds = [each.event.kind for each in events_until_end(runs, run_id)]
    assert kinds[3:8] == ["phase_entered", "tokens_used", "question_asked", "phase_entered", "tokens_used"]


def test_a_run_that_someone_else_ended_says_nothing_more(runs_with, sessions, caplog):
    gate = Gate("answer 2")
    runs = runs_with(scripted_wiring(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(30)
    EventLog(sessions).append(run_id, RunInterrupted("ended elsewhere"))
    gate.open()
    runs.stop()
    assert runs.follow(run_id, 0, 0)[-1].event == RunInterrupted("ended elsewhere")
    assert runs.report(run_id).report.ended == "interrupted"
    assert f"run {run_id} was ended by someone else" in caplog.text


def test_when_even_the_database_fails_the_worker_survives_and_the_log_has_it(runs_with, sessions, caplog):
    gate = Gate("answer 1")
    runs = runs_with(scripted_wiring(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(30)
    with sessions.begin() as session:
        session.execute(text("alter table events rename to lost"))
    gate.open()
    runs.stop()
    assert f"run {run_id} could not be ended" in caplog.text


def test_the_log_has_one_line_a_hop_and_none_of_what_people_wrote(runs_with, caplog):
    caplog.set_level(logging.INFO, logger="app.runs")
    missing = ModelUnavailable("The index is missing", mend="make index")
    script = Script((*ONE_SET_ASIDE.hops[:2], ScriptedHop("Where was he born?", missing)), TWO_HOPS.verdict)
    runs = runs_with(scripted_wiring(script))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    ended(runs, run_id)
    runs.stop()
    lines = [record.message for record in caplog.records if record.name == "app.runs.runner"]
    assert lines == [
        f"run {run_id} hop 1 set aside: There was no answer.",
        f"run {run_id} hop 2 kept",
        f"run {run_id} hop 3 failed in the answerer: The index is missing. Mend it with: make index",
        f"run {run_id} verdict SUPPORTED",
    ]


@pytest.mark.parametrize(
    "step, end",
    [
        ("question 1", "interrupted"),
        ("answer 1", "interrupted"),
        ("validation 2", "interrupted"),
        ("sufficiency 1", "interrupted"),
        ("conclusion 1", "verdict"),
    ],
)
def test_a_run_stopped_during_any_step_ends_after_that_hop(sessions, step, end):
    signal = StopSignal()
    wiring = FakeWiring(before_step=lambda now: signal.stop() if now == step else None)
    events = EventLog(sessions)
    events.begin("run", "me", "process", RunStarted(CLAIM, RunOptions()))
    Runner(events, wiring.strategy_for, signal).carry_out("run", CLAIM, RunOptions())
    report = fold((each.event, each.seconds) for each in events.read("run"))
    assert report.ended == end
    assert all(hop.status is HopStatus.KEPT for hop in report.hops)
