"""Speculative work: a used result equals a direct call's; unused results are discarded but their cost is reported."""

from __future__ import annotations

import threading

import pytest

from app.domain import instrumentation as progress
from app.domain.errors import CallFailed
from app.domain.events import PhaseEntered, TokensUsed, TroubleMet
from app.domain.instrumentation import (
    Call,
    MemoryStore,
    cached_call,
    report_phase,
    report_problem,
    report_usage,
    use_stores,
)
from app.domain.model import Usage
from app.domain.ports import RunCommand
from app.strategies.speculation import Speculation
from tests.strategies.lockstep import Steered
from tests.strategies.pursuit import played
from tests.waiting import LONG


class Held:
    """Work that records its calls in `made`, waits for its release, and makes a second call."""

    def __init__(self, last: object = "done") -> None:
        self.started, self.go_on = threading.Event(), threading.Event()
        self.made: list[str] = []
        self._last = last

    def __call__(self) -> object:
        report_phase("the first call")
        self._made("first")
        report_problem("The first call was slow.")
        report_phase("the second call")
        self._made("second")
        if isinstance(self._last, Exception):
            raise self._last
        return self._last

    def _made(self, name: str) -> None:
        def compute() -> str:
            self.made.append(name)
            self.started.set()
            assert self.go_on.wait(LONG)
            report_usage(Usage(1, 10, 2))
            return name

        cached_call(Call("held", {"name": name}, costly=True), compute)


class Heard(list):
    """A listener that records events; `at_a_phase` is called at each phase, first when work is used."""

    at_a_phase = staticmethod(lambda: None)

    def __call__(self, event) -> None:
        self.append(event)
        if isinstance(event, PhaseEntered):
            self.at_a_phase()


@pytest.fixture
def said():
    """The events in the test's own thread, and in the threads started there."""
    heard = Heard()
    with progress.listening(heard):
        yield heard


@pytest.fixture
def work():
    held = Held()
    yield held
    held.go_on.set()


def not_again() -> object:
    raise AssertionError("it was started already")


def test_two_pieces_of_work_run_concurrently():
    meeting = threading.Barrier(3, timeout=LONG)
    with Speculation() as speculation:
        speculation.start("one", meeting.wait)
        speculation.start("other", meeting.wait)
        here = meeting.wait()
        assert {speculation.result("one", not_again), speculation.result("other", not_again), here} == {0, 1, 2}


def test_phases_are_reported_when_the_work_is_used_and_costs_at_once(said, work):
    with Speculation() as speculation:
        speculation.start("key", work)
        assert work.started.wait(LONG) and said == []
        said.at_a_phase = work.go_on.set
        speculation.result("key", not_again)
    assert said == [
        PhaseEntered("the first call"),
        TokensUsed(Usage(1, 10, 2)),
        TroubleMet("The first call was slow."),
        PhaseEntered("the second call"),
        TokensUsed(Usage(1, 10, 2)),
    ]


def test_work_finished_before_its_use_reports_problems_but_no_phase(said, work):
    work.go_on.set()
    with Speculation() as speculation:
        speculation.start("key", work).value()
        speculation.result("key", not_again)
    assert said == [TokensUsed(Usage(1, 10, 2))] * 2 + [TroubleMet("The first call was slow.")]


def test_cancelled_work_starts_no_further_call_and_reports_only_its_cost(said, work):
    with Speculation() as speculation:
        task = speculation.start("key", work)
        assert work.started.wait(LONG)
        speculation.cancel()
        work.go_on.set()
        speculation.drain()
        assert task.outcome.done()
    assert (work.made, said) == (["first"], [TokensUsed(Usage(1, 10, 2))])


def test_the_failure_of_cancelled_work_is_ignored(said):
    with Speculation() as speculation:
        task = speculation.start("key", lambda: played(CallFailed("no reply")))
        assert isinstance(task.outcome.exception(30), CallFailed)
        speculation.cancel()
        speculation.drain()
        assert speculation.result("key", lambda: "in its turn") == "in its turn"
    assert said == []


def test_leaving_the_block_cancels_everything_without_waiting(work):
    with Speculation() as speculation:
        task = speculation.start("key", work)
        assert work.started.wait(LONG)
    assert not task.outcome.done()
    work.go_on.set()
    assert task.outcome.exception(30) is not None
    assert work.made == ["first"]


@pytest.mark.parametrize("wish", [RunCommand.FINISH_AFTER_HOP, RunCommand.FINISH_NOW])
def test_no_speculative_call_starts_once_the_run_is_ending(work, wish):
    control = Steered()
    with Speculation(control=control) as speculation:
        task = speculation.start("key", work)
        assert work.started.wait(LONG)
        control.commands = [wish]
        work.go_on.set()
        assert task.outcome.exception(30) is not None
    assert work.made == ["first"]


def test_work_stopped_by_the_control_is_completed_on_use_without_repeating_calls(work):
    control = Steered()
    with use_stores(MemoryStore()), Speculation(control=control) as speculation:
        task = speculation.start("key", work)
        assert work.started.wait(LONG)
        control.commands = [RunCommand.FINISH_AFTER_HOP]
        work.go_on.set()
        task.outcome.exception(30)
        assert speculation.result("key", work) == "done"
    assert work.made == ["first", "second"]


def test_work_in_use_continues_whatever_the_control_says(said, work):
    control = Steered()

    def change() -> None:
        control.commands = [RunCommand.FINISH_AFTER_HOP]
        work.go_on.set()

    said.at_a_phase = change
    with Speculation(control=control) as speculation:
        speculation.start("key", work)
        assert work.started.wait(LONG)
        assert speculation.result("key", not_again) == "done"
    assert work.made == ["first", "second"]


def test_work_pauses_at_its_limit_of_costly_calls_until_it_is_used(said, work):
    work.go_on.set()
    with Speculation() as speculation:
        task = speculation.start("key", work, max_costly_calls=1)
        with pytest.raises(TimeoutError):
            task.outcome.result(0.1)
        assert work.made == ["first"]
        assert speculation.result("key", not_again) == "done"
    assert work.made == ["first", "second"]


def test_paused_work_ends_when_it_is_cancelled(work):
    work.go_on.set()
    with Speculation() as speculation:
        task = speculation.start("key", work, max_costly_calls=1)
        assert work.started.wait(LONG)
        speculation.cancel()
        assert task.outcome.exception(30) is not None
    assert work.made == ["first"]


def test_nested_work_is_cancelled_with_its_parent():
    held = Held()

    def outer() -> object:
        with Speculation() as inner:
            inner.start("inner", held)
            return inner.result("inner", not_again)

    with Speculation() as speculation:
        task = speculation.start("outer", outer)
        assert held.started.wait(LONG)
        speculation.cancel()
        held.go_on.set()
        assert task.outcome.exception(30) is not None
    assert held.made == ["first"]


def test_an_urgent_end_does_not_wait_for_the_cost_of_cancelled_work(work):
    control = Steered()
    with Speculation(control=control) as speculation:
        task = speculation.start("key", work)
        assert work.started.wait(LONG)
        control.commands = [RunCommand.FINISH_NOW]
        speculation.cancel()
        speculation.drain(250)
        assert not task.outcome.done()
