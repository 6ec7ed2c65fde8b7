"""Head starts: what is taken is as if it had been done in its turn, and what is not is never seen, but paid for."""

from __future__ import annotations

import threading

import pytest

from app.domain import instrumentation as progress
from app.domain.errors import CallFailed
from app.domain.events import PhaseEntered, TokensUsed, TroubleMet
from app.domain.instrumentation import Call, MemoryStore, cached_call, entered, troubled, use_stores, used
from app.domain.model import Usage
from app.domain.ports import RunCommand
from app.strategies.speculation import Ahead
from tests.waiting import LONG


class Held:
    """Work that says what it does, waits to be let go, and makes a second call; `made` names the calls it made."""

    def __init__(self, last: object = "done") -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.made: list[str] = []
        self._last = last

    def __call__(self) -> object:
        entered("the first call")
        self._made("first")
        troubled("The first call was slow.")
        entered("the second call")
        self._made("second")
        if isinstance(self._last, Exception):
            raise self._last
        return self._last

    def _made(self, name: str) -> None:
        def compute() -> str:
            self.made.append(name)
            self.begun.set()
            assert self.go_on.wait(LONG)
            used(Usage(1, 10, 2))
            return name

        cached_call(Call("held", {"name": name}, costly=True), compute)


class Says:
    """A Control that wishes what it is told to."""

    def __init__(self, wish: RunCommand = RunCommand.CONTINUE) -> None:
        self.now = wish

    def command(self) -> RunCommand:
        return self.now

    def reason(self) -> str:
        return "Somebody wished so."


class Heard(list):
    """A listener that keeps what it hears; `at_a_phase` is done at each phase, first when work is taken."""

    at_a_phase = staticmethod(lambda: None)

    def __call__(self, event) -> None:
        self.append(event)
        if isinstance(event, PhaseEntered):
            self.at_a_phase()


@pytest.fixture
def said():
    """What is heard in the test's own thread, and in those that start there."""
    heard = Heard()
    with progress.listening(heard):
        yield heard


@pytest.fixture
def work():
    held = Held()
    yield held
    held.go_on.set()


def not_again() -> object:
    raise AssertionError("it was begun already")


def test_what_was_begun_is_taken_and_not_done_again(said, work):
    work.go_on.set()
    with Ahead() as ahead:
        ahead.begin("key", work)
        assert ahead.take("key", not_again) == "done"
    assert work.made == ["first", "second"]


def test_what_was_not_begun_is_done_when_it_is_taken():
    with Ahead() as ahead:
        ahead.begin("key", lambda: "ahead")
        assert ahead.take("another", lambda: "in its turn") == "in its turn"
        assert (ahead.take("key", not_again), ahead.take("key", lambda: "anew")) == ("ahead", "anew")


def test_two_are_under_way_at_the_same_time():
    meeting = threading.Barrier(3, timeout=LONG)
    with Ahead() as ahead:
        ahead.begin("one", meeting.wait)
        ahead.begin("other", meeting.wait)
        here = meeting.wait()
        assert {ahead.take("one", not_again), ahead.take("other", not_again), here} == {0, 1, 2}


def test_the_error_of_what_is_taken_is_that_of_the_call():
    with Ahead() as ahead, pytest.raises(CallFailed, match="no reply"):
        ahead.begin("key", lambda: played(CallFailed("no reply")))
        ahead.take("key", not_again)


def played(error: Exception) -> object:
    raise error


def test_what_it_does_is_told_when_it_is_taken_and_what_it_costs_at_once(said, work):
    with Ahead() as ahead:
        ahead.begin("key", work)
        assert work.begun.wait(LONG) and said == []
        said.at_a_phase = work.go_on.set
        ahead.take("key", not_again)
    assert said == [
        PhaseEntered("the first call"),
        TokensUsed(Usage(1, 10, 2)),
        TroubleMet("The first call was slow."),
        PhaseEntered("the second call"),
        TokensUsed(Usage(1, 10, 2)),
    ]


def test_what_was_done_before_it_is_taken_tells_its_troubles_and_no_phase(said, work):
    work.go_on.set()
    with Ahead() as ahead:
        ahead.begin("key", work).value()
        ahead.take("key", not_again)
    assert said == [TokensUsed(Usage(1, 10, 2))] * 2 + [TroubleMet("The first call was slow.")]


def test_what_is_dropped_begins_no_further_call_and_tells_nothing_but_its_cost(said, work):
    with Ahead() as ahead:
        begun = ahead.begin("key", work)
        assert work.begun.wait(LONG)
        ahead.drop()
        work.go_on.set()
        ahead.drain()
        assert begun.outcome.done()
    assert (work.made, said) == (["first"], [TokensUsed(Usage(1, 10, 2))])


def test_what_is_dropped_and_fails_is_nobodys_failure(said):
    with Ahead() as ahead:
        begun = ahead.begin("key", lambda: played(CallFailed("no reply")))
        assert isinstance(begun.outcome.exception(30), CallFailed)
        ahead.drop()
        ahead.drain()
        assert ahead.take("key", lambda: "in its turn") == "in its turn"
    assert said == []


def test_leaving_drops_everything_and_waits_for_nothing(work):
    with Ahead() as ahead:
        begun = ahead.begin("key", work)
        assert work.begun.wait(LONG)
    assert not begun.outcome.done()
    work.go_on.set()
    assert begun.outcome.exception(30) is not None
    assert work.made == ["first"]


def test_nothing_is_begun_under_a_key_that_is_taken_by_work_under_way():
    with Ahead() as ahead:
        assert ahead.begin("key", lambda: 1) is ahead.begin("key", lambda: 2)
        assert ahead.take("key", not_again) == 1


@pytest.mark.parametrize("wish", [RunCommand.STOP, RunCommand.FINISH_AFTER_HOP, RunCommand.FINISH_NOW])
def test_ahead_of_its_turn_no_call_is_begun_once_the_run_is_to_end(work, wish):
    control = Says()
    with Ahead(control=control) as ahead:
        begun = ahead.begin("key", work)
        assert work.begun.wait(LONG)
        control.now = wish
        work.go_on.set()
        assert begun.outcome.exception(30) is not None
    assert work.made == ["first"]


def test_what_did_not_go_on_is_done_by_whoever_takes_it_and_makes_no_call_twice(work):
    control = Says()
    with use_stores(MemoryStore()), Ahead(control=control) as ahead:
        begun = ahead.begin("key", work)
        assert work.begun.wait(LONG)
        control.now = RunCommand.FINISH_AFTER_HOP
        work.go_on.set()
        begun.outcome.exception(30)
        assert ahead.take("key", work) == "done"
    assert work.made == ["first", "second"]


def test_what_is_taken_goes_on_whatever_is_wished(said, work):
    control = Says()

    def change() -> None:
        control.now = RunCommand.FINISH_AFTER_HOP
        work.go_on.set()

    said.at_a_phase = change
    with Ahead(control=control) as ahead:
        ahead.begin("key", work)
        assert work.begun.wait(LONG)
        assert ahead.take("key", not_again) == "done"
    assert work.made == ["first", "second"]


def test_it_waits_after_so_many_costly_calls_until_it_is_taken(said, work):
    work.go_on.set()
    with Ahead() as ahead:
        begun = ahead.begin("key", work, costly=1)
        with pytest.raises(TimeoutError):
            begun.outcome.result(0.1)
        assert work.made == ["first"]
        assert ahead.take("key", not_again) == "done"
    assert work.made == ["first", "second"]


def test_one_that_waits_and_is_dropped_ends_there(work):
    work.go_on.set()
    with Ahead() as ahead:
        begun = ahead.begin("key", work, costly=1)
        assert work.begun.wait(LONG)
        ahead.drop()
        assert begun.outcome.exception(30) is not None
    assert work.made == ["first"]


def test_one_goes_on_from_the_value_of_another():
    with Ahead() as ahead:
        question = ahead.begin("question", lambda: "Who?")
        ahead.begin("answer", lambda: f"{question.value()} Shakespeare.")
        assert ahead.take("answer", not_again) == "Who? Shakespeare."


def test_one_that_goes_on_from_a_failure_leads_nowhere():
    with Ahead() as ahead:
        question = ahead.begin("question", lambda: played(CallFailed("no reply")))
        ahead.begin("answer", lambda: f"{question.value()} Shakespeare.")
        assert ahead.take("answer", lambda: "asked in its turn") == "asked in its turn"


def test_one_within_another_is_dropped_with_it():
    held = Held()

    def outer() -> object:
        with Ahead() as inner:
            inner.begin("inner", held)
            return inner.take("inner", not_again)

    with Ahead() as ahead:
        begun = ahead.begin("outer", outer)
        assert held.begun.wait(LONG)
        ahead.drop()
        held.go_on.set()
        assert begun.outcome.exception(30) is not None
    assert held.made == ["first"]


@pytest.mark.parametrize("wish", [RunCommand.STOP, RunCommand.FINISH_NOW])
def test_a_run_in_a_hurry_does_not_wait_for_the_cost_of_what_it_dropped(work, wish):
    control = Says()
    with Ahead(control=control) as ahead:
        begun = ahead.begin("key", work)
        assert work.begun.wait(LONG)
        control.now = wish
        ahead.drop()
        ahead.drain(250)
        assert not begun.outcome.done()
