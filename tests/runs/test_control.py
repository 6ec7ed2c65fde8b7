"""The control: it says go on until a limit is reached, and then which."""

from __future__ import annotations

import pytest

from app.domain.events import PhaseEntered, RunResumed, RunStarted
from app.domain.model import Claim, RunOptions, Usage
from app.domain.ports import Wish
from app.runs.control import ASKED, LOOK_AGAIN_SECONDS, Limits, RunControl, worked_seconds
from app.runs.event_store import WAITING, StoredEvent

PHASE = PhaseEntered("reading")


def control(limits: Limits, today: Usage = Usage(), **fields) -> RunControl:  # noqa: B008 - it is frozen
    return RunControl(limits, lambda: today, **fields)


def test_without_limits_a_run_goes_on_for_ever():
    free = control(Limits(), Usage(10**9, 10**9, cost=1e9), used=Usage(10**9, 10**9, cost=1e9), worked=1e9)
    assert (free.wish(), free.reason()) == (Wish.GO_ON, "")


@pytest.mark.parametrize(
    "limits, used, today, reason",
    [
        (Limits(calls=100), Usage(100), Usage(), "The limit of 100 calls for one check was reached."),
        (Limits(calls=1), Usage(1), Usage(), "The limit of 1 call for one check was reached."),
        (Limits(tokens=2000), Usage(1, 1500, 500), Usage(), "The limit of 2,000 tokens for one check was reached."),
        (Limits(cost=0.5), Usage(cost=0.5), Usage(), "The limit of 0.5 in cost for one check was reached."),
        (Limits(day_calls=1000), Usage(), Usage(1000), "This site's limit of 1,000 calls a day was reached."),
        (Limits(day_tokens=9), Usage(), Usage(1, 4, 6), "This site's limit of 9 tokens a day was reached."),
        (Limits(day_cost=2), Usage(), Usage(cost=2.5), "This site's limit of 2 in cost a day was reached."),
    ],
)
def test_a_reached_limit_concludes_the_run_and_is_named_with_its_number(limits, used, today, reason):
    bounded = control(limits, today, used=used)
    assert (bounded.wish(), bounded.reason()) == (Wish.CONCLUDE, reason)


@pytest.mark.parametrize(
    "limits, used",
    [
        (Limits(calls=100, tokens=2000, cost=0.5), Usage(99, 1000, 999, cached=500, cost=0.49)),
        (Limits(cost=0), Usage(50, 1000, 1000)),
        (Limits(cost=0), Usage(50, 1000, 1000, cost=0.0)),
    ],
)
def test_below_every_limit_it_goes_on_and_what_is_free_reaches_no_limit_of_money(limits, used):
    assert control(limits, used=used).wish() is Wish.GO_ON


def test_calls_that_are_made_meanwhile_count():
    bounded = control(Limits(calls=3), used=Usage(1))
    bounded.count(Usage(1))
    assert bounded.wish() is Wish.GO_ON
    bounded.count(Usage(1))
    assert bounded.wish() is Wish.CONCLUDE


class Owner:
    """What a run's owner wants, and how often that was looked up."""

    def __init__(self) -> None:
        self.wish, self.looks, self.time = Wish.GO_ON, 0, 1000.0

    def asked(self) -> Wish:
        self.looks += 1
        return self.wish

    def control(self, limits: Limits = Limits(), **fields) -> RunControl:  # noqa: B008 - it is frozen
        return control(limits, asked=self.asked, clock=lambda: self.time, **fields)


def test_an_owner_who_asks_is_heard_at_the_next_look_and_named():
    owner = Owner()
    asked = owner.control()
    assert asked.wish() is Wish.GO_ON
    owner.wish = Wish.CONCLUDE_NOW
    owner.time += LOOK_AGAIN_SECONDS
    assert (asked.wish(), asked.reason()) == (Wish.CONCLUDE_NOW, ASKED)


def test_what_the_owner_wants_is_looked_up_now_and_then_and_not_where_an_event_has_just_told_it():
    owner = Owner()
    asked = owner.control()
    for seconds in (0, 0.5, 0.4, 0.4):
        owner.time += seconds * LOOK_AGAIN_SECONDS
        assert asked.wish() is Wish.GO_ON
    assert owner.looks == 2
    owner.time += 9 * LOOK_AGAIN_SECONDS
    asked.hear(Wish.GO_ON)
    assert (asked.wish(), owner.looks) == (Wish.GO_ON, 2)
    asked.hear(Wish.CONCLUDE_NOW)
    asked.hear(Wish.GO_ON)  # read before, and told by another thread after
    assert (asked.wish(), owner.looks) == (Wish.CONCLUDE_NOW, 2)


def test_an_owner_may_hurry_a_run_that_a_limit_concludes_and_the_limit_stays_the_reason():
    asked = Owner().control(Limits(calls=1), used=Usage(1))
    assert asked.wish() is Wish.CONCLUDE
    asked.hear(Wish.CONCLUDE_NOW)
    assert (asked.wish(), "1 call" in asked.reason()) == (Wish.CONCLUDE_NOW, True)


def test_the_time_before_a_take_over_counts():
    now = [1000.0]
    bounded = control(Limits(seconds=300), worked=200, clock=lambda: now[0])
    now[0] += 99
    assert bounded.wish() is Wish.GO_ON
    now[0] += 1
    assert bounded.wish() is Wish.CONCLUDE
    assert bounded.reason() == "The limit of 300 seconds for one check was reached."


def test_a_reason_once_given_stands():
    spent = [Usage(5)]
    bounded = RunControl(Limits(day_calls=5), lambda: spent[0])
    assert bounded.wish() is Wish.CONCLUDE
    spent[0] = Usage()  # midnight
    assert (bounded.wish(), "5 calls a day" in bounded.reason()) == (Wish.CONCLUDE, True)


def test_the_days_sum_is_not_asked_for_when_the_day_has_no_limit():
    def today() -> Usage:
        raise AssertionError("nobody needs it")

    assert RunControl(Limits(calls=5), today).wish() is Wish.GO_ON


def test_waiting_and_the_gap_before_a_take_over_are_no_work():
    told = [
        (0, RunStarted(Claim("Hamlet is a play."), RunOptions())),
        (0, WAITING),
        (100, PHASE),
        (103, PHASE),
        (110, PHASE),
        (5000, RunResumed("The check was cut off.")),
        (5002, PHASE),
    ]
    assert worked_seconds(StoredEvent(n, at, event) for n, (at, event) in enumerate(told, 1)) == 12
