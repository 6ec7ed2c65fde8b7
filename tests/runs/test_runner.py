"""Every run ends with a verdict, or with one clear sentence on the page and the details in the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import text

from app.domain.errors import ModelUnavailable
from app.domain.events import Event, PhaseEntered, QuestioningEnded, RunInterrupted, RunStarted, VerdictReached
from app.domain.messages import Code
from app.domain.model import Claim, HopStatus, Judgement, RunOptions
from app.runs.budget import Limits
from app.runs.call_log import CallLog
from app.runs.event_store import EventStore
from app.runs.runner import Runner
from app.strategies.hop_loop import MAX_EARLY_CONFIDENCE
from tests.fakes import FAILING, ONE_SET_ASIDE, TWO_HOPS, Gate, Script, ScriptedHop, scripted_container
from tests.runs.conftest import ended, events_until_end, lapse
from tests.runs.steady import SteadyContainer
from tests.waiting import LONG, until

CLAIM = Claim("The author of Hamlet was born in England.")


class OneStrategy:
    """A container whose only strategy yields the given events."""

    def __init__(self, *events: Event) -> None:
        self.events = events

    def strategy_for(self, options: RunOptions) -> OneStrategy:
        return self

    def run(self, claim, options, so_far=None, control=None) -> Iterator[Event]:
        yield from self.events


def test_a_crash_ends_the_run_with_a_general_sentence_and_the_details_in_the_log(runs_with, caplog):
    runs = runs_with(scripted_container(FAILING))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    report = ended(runs, run_id)
    assert (report.ended, report.problem) == ("failed", Code.INTERNAL_ERROR())
    assert report.hops[0].status is HopStatus.KEPT, "what was found stays"
    (record,) = [record for record in caplog.records if record.exc_info]
    assert run_id in record.message and "a secret" in str(record.exc_info[1])


def test_a_missing_model_ends_the_run_with_the_command_that_fixes_it(runs_with):
    runs = runs_with(scripted_container(refusal=ModelUnavailable("The judge is missing", fix="make setup")))
    report = ended(runs, runs.start(CLAIM, RunOptions(), "me"))
    assert (report.ended, report.problem) == ("failed", "The judge is missing. Fix it with: make setup")


def test_a_strategy_that_ends_without_a_terminal_event_does_not_leave_the_run_open(runs_with, caplog):
    for container in (OneStrategy(QuestioningEnded("enough")), OneStrategy()):
        runs = runs_with(container)
        assert ended(runs, runs.start(CLAIM, RunOptions(), "me")).problem == Code.INTERNAL_ERROR()
    assert "without a terminal event" in caplog.text


def test_phases_and_costs_are_stored_when_they_are_reported_before_the_steps_result(runs_with):
    gate = Gate("validation 1")
    runs = runs_with(scripted_container(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    assert runs.follow(run_id, 0, 0)[-1].event == PhaseEntered("validation 1")
    gate.open()
    kinds = [each.event.kind for each in events_until_end(runs, run_id)]
    assert kinds[3:8] == ["phase_entered", "tokens_used", "question_asked", "phase_entered", "tokens_used"]


def test_a_run_that_another_process_ended_stores_no_more_events(runs_with, caplog):
    caplog.set_level(logging.INFO, logger="app.runs")
    gate = Gate("answer 2")
    runs, others = runs_with(scripted_container(gate=gate)), runs_with(scripted_container())
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    others.interrupt(run_id, "ended elsewhere")
    gate.open()
    until(lambda: f"run {run_id} was ended elsewhere, for example by its owner" in caplog.text)
    assert runs.follow(run_id, 0, 0)[-1].event == RunInterrupted("ended elsewhere")
    assert runs.report(run_id).report.ended == "interrupted"
    assert not [record for record in caplog.records if record.levelno > logging.INFO], "stopping a run is no problem"


def test_a_run_deleted_before_its_events_were_read_does_not_count_as_one_of_another_version(
    sessions, leases_with, caplog, monkeypatch
):
    log, leases = EventStore(sessions), leases_with()
    log.create_run("run", "me", RunStarted(CLAIM, RunOptions()))
    lease = leases.acquire("run")
    with sessions.begin() as session:
        session.execute(text("update runs set state = 'interrupted', deleted_at = created_at"))
    monkeypatch.setattr(leases, "acquire", lambda run_id: lease)
    Runner(sessions, log, leases, scripted_container().strategy_for).carry_out("run")
    assert "another version" not in caplog.text


def test_repeated_failures_to_write_a_lease_are_logged_once(sessions, leases_with, caplog):
    log = EventStore(sessions)
    log.create_run("run", "me", RunStarted(CLAIM, RunOptions()))
    runner = Runner(sessions, log, leases_with(), scripted_container().strategy_for)
    with sessions.begin() as session:
        session.execute(text("alter table runs rename to lost"))
    for _ in range(3):
        runner.carry_out("run")
    (record,) = caplog.records
    assert "runs cannot be started: The database" in record.getMessage() and record.exc_info is None
    with sessions.begin() as session:
        session.execute(text("alter table lost rename to runs"))
    runner.carry_out("run")
    assert isinstance(log.read("run")[-1].event, VerdictReached)


def test_a_run_continues_when_the_database_works_again(runs_with, sessions, caplog):
    gate = Gate("answer 2")
    container = SteadyContainer(before_step=gate)
    runs = runs_with(container)
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    with sessions.begin() as session:
        session.execute(text("alter table events rename to lost"))
    gate.open()
    until(lambda: "waits until the database works" in caplog.text)
    with sessions.begin() as session:
        session.execute(text("alter table lost rename to events"))
    lapse(sessions, run_id)
    runs.wake(run_id)
    report = ended(runs, run_id)
    assert (report.verdict, [hop.status for hop in report.hops]) == (TWO_HOPS.verdict, [HopStatus.KEPT] * 2)


def test_the_log_has_one_line_per_hop_and_no_user_text(runs_with, caplog):
    caplog.set_level(logging.INFO, logger="app.runs")
    missing = ModelUnavailable("The index is missing", fix="make index")
    quoting = Judgement(False, Code.NOT_MENTIONED(name="Hamlet"))
    script = Script(
        (
            replace(ONE_SET_ASIDE.hops[0], useful=quoting),
            ONE_SET_ASIDE.hops[1],
            ScriptedHop("Where was he born?", missing),
        ),
        TWO_HOPS.verdict,
    )
    runs = runs_with(scripted_container(script))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    ended(runs, run_id)
    runs.stop(wait=LONG)
    lines = [record.message for record in caplog.records if record.name == "app.runs.runner"]
    assert lines == [
        f"run {run_id} hop 1 set aside",
        f"run {run_id} hop 2 kept",
        f"run {run_id} hop 3 failed in the answerer: The index is missing. Fix it with: make index",
        f"run {run_id} verdict SUPPORTED",
    ]


def test_a_run_that_reaches_a_limit_concludes_with_its_finished_hops_and_the_reason(runs_with):
    runs = runs_with(scripted_container(), limits=Limits(tokens=30))
    report = ended(runs, runs.start(CLAIM, RunOptions(), "me"))
    early = replace(TWO_HOPS.verdict, confidence=MAX_EARLY_CONFIDENCE)
    assert (report.verdict, report.stopped_because) == (early, Code.RUN_TOKENS(amount=30))
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT], "the hop it was in is finished"


def test_a_run_that_begins_after_the_daily_limit_was_reached_fails(runs_with):
    gate = Gate("question 1")
    runs = runs_with(scripted_container(gate=gate), workers=1, limits=Limits(day_calls=3))
    first, second = (runs.start(CLAIM, RunOptions(), "me") for _ in range(2))
    gate.open()
    assert ended(runs, first).ended == "verdict"
    report = ended(runs, second)
    assert (report.ended, report.hops) == ("failed", ())
    assert report.problem == Code.DAY_CALLS(amount=3)


def test_runs_share_the_call_log_unless_they_are_fresh(runs_with, sessions):
    container = SteadyContainer()
    container.steady.costly = True
    runs = runs_with(container, calls=CallLog(sessions, 1))
    calls = ["question 1", "answer 1", "validation 1", "sufficiency 1"]
    calls += ["question 2", "answer 2", "validation 2", "sufficiency 2", "conclusion 1"]
    made = []
    for options in (RunOptions(), RunOptions(), RunOptions(fresh=True)):
        report = ended(runs, runs.start(CLAIM, options, "me"))
        made.append((report.usage.calls, report.usage.cached))
    assert made == [(9, 0), (0, 9), (9, 0)]
    assert container.steady.calls == calls * 2
