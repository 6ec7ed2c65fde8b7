"""Limits of a run and of a day, the owner's commands, and the daily sum of all costs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from app.domain.events import PhaseEntered, RunResumed, RunStarted
from app.domain.messages import Code
from app.domain.model import Claim, RunOptions, Usage
from app.domain.ports import RunCommand
from app.runs.budget import COMMAND_POLL_SECONDS, Limits, RunBudget, Spending
from app.runs.event_store import WAITING, StoredEvent
from app.runs.runner import worked_seconds

PHASE = PhaseEntered("reading")


def control(limits: Limits, today: Usage = Usage(), **fields) -> RunBudget:  # noqa: B008 - it is frozen
    return RunBudget(limits, lambda: today, **fields)


@pytest.mark.parametrize(
    "limits, used, today, reason",
    [
        (Limits(calls=100), Usage(100), Usage(), Code.RUN_CALLS(amount=100)),
        (Limits(tokens=2000), Usage(1, 1500, 500), Usage(), Code.RUN_TOKENS(amount=2000)),
        (Limits(cost=0.5), Usage(cost=0.5), Usage(), Code.RUN_COST(amount=0.5)),
        (Limits(day_calls=1000), Usage(), Usage(1000), Code.DAY_CALLS(amount=1000)),
        (Limits(day_tokens=9), Usage(), Usage(1, 4, 6), Code.DAY_TOKENS(amount=9)),
        (Limits(day_cost=2), Usage(), Usage(cost=2.5), Code.DAY_COST(amount=2)),
    ],
)
def test_a_reached_limit_concludes_the_run_and_is_named_with_its_number(limits, used, today, reason):
    bounded = control(limits, today, used=used)
    assert (bounded.command(), bounded.reason()) == (RunCommand.FINISH_AFTER_HOP, reason)


@pytest.mark.parametrize(
    "limits, used",
    [
        (Limits(calls=100, tokens=2000, cost=0.5), Usage(99, 1000, 999, cached=500, cost=0.49)),
        (Limits(cost=0), Usage(50, 1000, 1000)),
        (Limits(cost=0), Usage(50, 1000, 1000, cost=0.0)),
    ],
)
def test_a_run_below_every_limit_continues_and_free_calls_reach_no_cost_limit(limits, used):
    assert control(limits, used=used).command() is RunCommand.CONTINUE


def test_calls_made_during_the_run_count_towards_its_limit():
    bounded = control(Limits(calls=3), used=Usage(1))
    bounded.count(Usage(1))
    assert bounded.command() is RunCommand.CONTINUE
    bounded.count(Usage(1))
    assert bounded.command() is RunCommand.FINISH_AFTER_HOP


class Owner:
    """The command of a run's owner, with a count of how often it was read."""

    def __init__(self) -> None:
        self.wanted, self.reads, self.time = RunCommand.CONTINUE, 0, 1000.0

    def command(self) -> RunCommand:
        self.reads += 1
        return self.wanted

    def control(self, limits: Limits = Limits(), **fields) -> RunBudget:  # noqa: B008 - it is frozen
        return control(limits, read_command=self.command, clock=lambda: self.time, **fields)


def test_an_owners_command_is_read_at_the_next_poll_and_given_as_the_reason():
    owner = Owner()
    budget = owner.control()
    assert budget.command() is RunCommand.CONTINUE
    owner.wanted = RunCommand.FINISH_NOW
    owner.time += COMMAND_POLL_SECONDS
    assert (budget.command(), budget.reason()) == (RunCommand.FINISH_NOW, Code.ASKED_BY_OWNER())


def test_the_owners_command_is_polled_at_intervals_and_not_when_just_received():
    owner = Owner()
    budget = owner.control()
    for seconds in (0, 0.5, 0.4, 0.4):
        owner.time += seconds * COMMAND_POLL_SECONDS
        assert budget.command() is RunCommand.CONTINUE
    assert owner.reads == 2
    owner.time += 9 * COMMAND_POLL_SECONDS
    budget.receive(RunCommand.CONTINUE)
    assert (budget.command(), owner.reads) == (RunCommand.CONTINUE, 2)
    budget.receive(RunCommand.FINISH_NOW)
    budget.receive(RunCommand.CONTINUE)  # read earlier, received later from another thread
    assert (budget.command(), owner.reads) == (RunCommand.FINISH_NOW, 2)


def test_an_owner_may_hurry_a_run_at_its_limit_and_the_limit_stays_the_reason():
    budget = Owner().control(Limits(calls=1), used=Usage(1))
    assert budget.command() is RunCommand.FINISH_AFTER_HOP
    budget.receive(RunCommand.FINISH_NOW)
    assert (budget.command(), budget.reason()) == (RunCommand.FINISH_NOW, Code.RUN_CALLS(amount=1))


def test_time_worked_before_a_resume_counts_towards_the_time_limit():
    now = [1000.0]
    bounded = control(Limits(seconds=300), worked=200, clock=lambda: now[0])
    now[0] += 99
    assert bounded.command() is RunCommand.CONTINUE
    now[0] += 1
    assert bounded.command() is RunCommand.FINISH_AFTER_HOP
    assert bounded.reason() == Code.RUN_SECONDS(amount=300)


def test_the_reason_for_concluding_is_kept_after_midnight():
    spent = [Usage(5)]
    bounded = RunBudget(Limits(day_calls=5), lambda: spent[0])
    assert bounded.command() is RunCommand.FINISH_AFTER_HOP
    spent[0] = Usage()  # midnight
    assert (bounded.command(), bounded.reason()) == (RunCommand.FINISH_AFTER_HOP, Code.DAY_CALLS(amount=5))


def test_waiting_and_the_gap_before_a_resume_do_not_count_as_worked_time():
    events = [
        (0, RunStarted(Claim("Hamlet is a play."), RunOptions())),
        (0, WAITING),
        (100, PHASE),
        (103, PHASE),
        (110, PHASE),
        (5000, RunResumed("The check was cut off.")),
        (5002, PHASE),
    ]
    assert worked_seconds(StoredEvent(n, at, event) for n, (at, event) in enumerate(events, 1)) == 12


# The daily sum: all runs add to it, and each day starts at zero.


def test_simultaneous_additions_lose_nothing(sessions):
    spending = Spending(sessions)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: spending.add(Usage(1, 10, 2, cached=4, cost=0.25)), range(40)))
    assert Spending(sessions).today() == Usage(40, 400, 80, cost=10.0)


def test_the_seconds_to_midnight_match_the_utc_clock(sessions):
    now = datetime.now(UTC)
    expected = 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)
    assert Spending(sessions).seconds_to_midnight() % 86_400 == pytest.approx(expected % 86_400, abs=5)
