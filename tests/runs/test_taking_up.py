"""A run survives its process: another one resumes it, and its report is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text, update
from sqlalchemy.orm import sessionmaker

from app.domain.errors import InvalidInput
from app.domain.events import SCHEMA_VERSION, TERMINAL, Event, RunStarted
from app.domain.messages import Code
from app.domain.model import Claim, HopStatus, RunOptions, Usage
from app.domain.report import Report, reduce_events
from app.extensions import db
from app.runs.budget import Spending
from app.runs.event_store import EventStore
from app.runs.jobs import RESUBMIT_SECONDS, Scheduler
from app.runs.leases import Leases
from app.runs.models import PEOPLE, EventRow, RunRow
from app.runs.runner import MAX_LOST_LEASES, Runner
from app.runs.service import inherited_events
from tests.fakes import SUPPORTED, TWO_HOPS, Gate
from tests.runs.conftest import ended, lapse, row_of
from tests.runs.steady import FAILED, Steady, SteadyContainer, scripted
from tests.waiting import LONG, until

CLAIM = Claim("The author of Hamlet was born in England.")


def test_running_runs_of_a_live_process_are_not_taken_over(runs_with):
    other = runs_with(SteadyContainer(before_step=(gate := Gate("answer 2"))), workers=1)
    running, waiting = (other.start(CLAIM, RunOptions(), "they") for _ in range(2))
    assert gate.reached.wait(LONG)
    runs = runs_with(SteadyContainer())
    runs.serve()
    runs.wake(running)
    runs.wake(waiting)
    assert ended(runs, waiting).ended == "verdict", "one that only waits there may be carried out here"
    assert runs.report(running).report.ended is None
    assert runs.place(running) is None
    gate.open()


def test_a_server_resumes_free_runs_by_itself(runs_with, sessions, leases_with):
    log = EventStore(sessions)
    for run_id in ("waiting", "cut off"):
        log.create_run(run_id, "me", RunStarted(CLAIM, RunOptions()))
    with sessions.begin() as session:
        session.execute(update(RunRow).values(created_at=text("'2026-01-01 00:00:00.000000'")))
    leases_with().acquire("cut off")
    lapse(sessions, "cut off")
    runs = runs_with(SteadyContainer())
    runs.serve()
    assert [ended(runs, each).ended for each in ("waiting", "cut off")] == ["verdict"] * 2


class NoJobs:
    """A job runner that only records the submitted runs."""

    def __init__(self, resubmit_after: float = RESUBMIT_SECONDS) -> None:
        self.submitted = []
        self._resubmit_after = resubmit_after

    def resubmit_after(self, queue: str) -> float:
        return self._resubmit_after

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        self.submitted.append(run_id)

    def stop(self, wait: float = 0.0) -> None:
        pass


def test_the_scheduler_submits_a_new_run_only_after_the_resubmit_time(sessions, leases_with):
    EventStore(sessions).create_run("run", "me", RunStarted(CLAIM, RunOptions()))
    for jobs, submitted in ((NoJobs(), []), (NoJobs(resubmit_after=0), ["run"])):
        Scheduler(leases_with(), jobs).tick()
        assert jobs.submitted == submitted


def test_the_scheduler_submits_a_run_that_lost_its_holder_at_once(sessions, leases_with):
    EventStore(sessions).create_run("run", "me", RunStarted(CLAIM, RunOptions()))
    leases_with().acquire("run")
    lapse(sessions, "run")
    Scheduler(leases_with(), jobs := NoJobs(resubmit_after=60)).tick()
    assert jobs.submitted == ["run"]


def test_the_scheduler_continues_after_a_database_outage(sessions, leases_with, caplog):
    log, jobs = EventStore(sessions), NoJobs(resubmit_after=0)
    log.create_run("run", "me", RunStarted(CLAIM, RunOptions()))
    with sessions.begin() as session:
        session.execute(text("alter table runs rename to lost"))
    scheduler = Scheduler(leases_with(), jobs, tick_seconds=0.02)
    scheduler.start()
    until(lambda: "periodic work failed" in caplog.text)
    with sessions.begin() as session:
        session.execute(text("alter table lost rename to runs"))
    until(lambda: jobs.submitted)
    scheduler.stop()
    assert caplog.text.count("periodic work failed") == 1


@pytest.fixture
def cut_off(runs_with, sessions):
    """A function that makes a run in the middle of its second hop whose lease was lost `times` times."""
    gate = Gate("answer 2")

    def make(times: int = 1) -> str:
        run_id = runs_with(SteadyContainer(before_step=gate)).start(CLAIM, RunOptions(), "me")
        assert gate.reached.wait(LONG)
        lapse(sessions, run_id)
        with sessions.begin() as session:
            session.execute(update(RunRow).where(RunRow.id == run_id).values(cut_offs=times))
        return run_id

    yield make
    gate.open()


def test_a_run_that_was_cut_off_too_often_ends_as_interrupted_with_its_hops(runs_with, cut_off):
    run_id = cut_off(times=MAX_LOST_LEASES)
    runs = runs_with(SteadyContainer())
    runs.wake(run_id)
    report = ended(runs, run_id)
    assert (report.ended, report.problem) == ("interrupted", Code.CUT_OFF_OFTEN(times=3))
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT, HopStatus.INTERRUPTED]


def test_a_run_whose_options_are_no_longer_offered_ends_as_interrupted_with_the_reason(runs_with, cut_off):
    run_id = cut_off()
    runs = runs_with(SteadyContainer(refusal=InvalidInput("There is no answerer 'web-search'.")))
    runs.wake(run_id)
    report = ended(runs, run_id)
    assert report.ended == "interrupted"
    assert report.problem == Code.CUT_OFF_FOR_GOOD(problem="There is no answerer 'web-search'.")


def test_a_run_of_a_newer_version_is_left_to_a_process_that_can_read_it(runs_with, cut_off, sessions, caplog):
    run_id = cut_off()
    newer = update(EventRow).where(EventRow.run_id == run_id, EventRow.seq == 3)
    with sessions.begin() as session:
        session.execute(newer.values(version=99))
    before = row_of(sessions, run_id)
    older = runs_with(SteadyContainer())
    for _ in range(3):
        older.carry_out(run_id)
    row = row_of(sessions, run_id)
    assert (row.state, row.holder, row.last_seq, row.cut_offs) == ("running", None, before.last_seq, 1)
    assert caplog.text.count("is left to another version that can read it") == 1, "it is refused from then on"
    assert "schema version 99 cannot be read" in caplog.text
    with sessions.begin() as session:
        session.execute(newer.values(version=SCHEMA_VERSION))
    runs = runs_with(SteadyContainer())
    runs.wake(run_id)
    assert ended(runs, run_id).verdict == TWO_HOPS.verdict


def test_a_call_that_returns_after_the_lease_was_released_is_counted_and_stored(runs_with, sessions):
    gate = Gate("answer 1")
    runs = runs_with(SteadyContainer(before_step=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    runs.stop()
    gate.open()
    runs.stop(wait=LONG)
    container = SteadyContainer()
    others = runs_with(container)
    others.wake(run_id)
    assert ended(others, run_id).verdict == TWO_HOPS.verdict
    assert container.steady.calls[0] == "validation 1"
    assert Spending(sessions).today() == Usage(9, 90, 18, cost=0.0)


outcomes = st.sampled_from(["kept", "set aside", "answerless", "failed"])


@pytest.fixture(scope="module")
def one_database(tmp_path_factory):
    """Sessions on a database that all examples share; each example has its own runs."""
    engine = create_engine(f"sqlite:///{tmp_path_factory.mktemp('runs') / 'hopcheck.sqlite3'}")
    db.metadata.create_all(engine)
    yield sessionmaker(engine)
    engine.dispose()


class CutOff(BaseException):
    """Raised where the simulated process dies."""


class MortalLog(EventStore):
    """An event store whose process dies at the n-th event, before or right after storing it."""

    def __init__(self, sessions, dies_at: int, stored: bool) -> None:
        super().__init__(sessions)
        self._left, self._stored = dies_at, stored

    def append(self, lease, event, *on_command) -> int:
        self._left -= 1
        if self._left == 0 and not self._stored:
            raise CutOff
        seq = super().append(lease, event, *on_command)
        if self._left == 0:
            raise CutOff
        return seq


def carried_out(
    sessions, run_id: str, steady: Steady, deaths: list[tuple[int, bool, bool]], inherited: Sequence[Event] = ()
) -> Report:
    """Return the report of a run whose processes die one after the other, until the last one finishes it.

    A death is (number of the event, whether that event is stored, whether the lease was released before).
    """
    EventStore(sessions).create_run(run_id, "me", RunStarted(CLAIM, RunOptions()), inherited=inherited)
    for dies_at, stored, released in [*deaths, (-1, True, False)]:
        leases = Leases(sessions)
        try:
            Runner(sessions, MortalLog(sessions, dies_at, stored), leases, steady.strategy_for).carry_out(run_id)
        except CutOff:
            if not released:
                lapse(sessions, run_id)
            with sessions.begin() as session:  # allow more deaths than MAX_LOST_LEASES
                session.execute(
                    update(RunRow)
                    .where(RunRow.id == run_id)
                    .values(cut_offs=0, leased_until=None, epoch=RunRow.epoch + released)
                )
        finally:
            leases.shutdown()
    events = EventStore(sessions).read(run_id)
    assert [each.seq for each in events] == list(range(1, len(events) + 1))
    assert [isinstance(each.event, TERMINAL) for each in events] == [False] * (len(events) - 1) + [True]
    return reduce_events((each.event, each.seconds) for each in events)


def timeless(report: Report) -> Report:
    """Return the report without the fields that a cut-off may change: times, costs and the number of resumes."""
    nothing = Usage()
    return replace(report, times=(), since=0.0, seconds=0.0, costs=(), unclaimed=nothing, usage=nothing, resumed=0)


numbers = iter(range(1_000_000))


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(outcomes, max_size=6),
    st.integers(0, 6),
    st.sampled_from([SUPPORTED, FAILED]),
    st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), max_size=4),
)
def test_a_cut_off_run_has_the_report_of_an_undisturbed_one(one_database, names, enough, verdict, deaths):
    script = scripted(names, enough, verdict)
    undisturbed, disturbed = Steady(script), Steady(script)
    expected = carried_out(one_database, str(next(numbers)), undisturbed, [])
    report = carried_out(one_database, str(next(numbers)), disturbed, deaths)
    assert timeless(report) == timeless(expected)
    assert [hop.number for hop in report.hops] == list(range(1, len(report.hops) + 1))
    assert len(disturbed.calls) <= len(undisturbed.calls) + len(deaths), "at most the call it died in is made again"
    assert set(disturbed.calls) == set(undisturbed.calls)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.lists(outcomes, min_size=1, max_size=5),
    st.integers(0, 5),
    st.data(),
    st.lists(st.tuples(st.integers(1, 25), st.booleans(), st.booleans()), max_size=3),
)
def test_a_cut_off_branch_has_the_report_of_an_undisturbed_one(one_database, names, enough, data, deaths):
    script, parent = scripted(names, enough, SUPPORTED), str(next(numbers))
    report = carried_out(one_database, parent, Steady(script), [])
    hop = data.draw(st.sampled_from(report.hops))
    question = data.draw(st.sampled_from([None, hop.question]))
    events = [each.event for each in EventStore(one_database).read(parent)]
    inherited = inherited_events(events, report, parent, hop.number, question)
    undisturbed, disturbed = Steady(script), Steady(script)
    expected = carried_out(one_database, str(next(numbers)), undisturbed, [], inherited)
    branch = carried_out(one_database, str(next(numbers)), disturbed, deaths, inherited)
    assert timeless(branch) == timeless(expected)
    assert branch.hops[: hop.number - 1] == report.hops[: hop.number - 1]
    assert len(disturbed.calls) <= len(undisturbed.calls) + len(deaths)
    again = {f"{step} {hop.number}" for step in ("question", "answer")}
    assert again.isdisjoint(undisturbed.calls) if question is None else f"answer {hop.number}" in undisturbed.calls
