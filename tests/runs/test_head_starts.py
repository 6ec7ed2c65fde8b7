"""Speculative calls of a run are stored, limited, counted and replayed like all others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.events import HopKept, PhaseEntered
from app.domain.messages import Code
from app.domain.model import Claim, RunOptions, Usage
from app.runs.budget import Limits, Spending
from app.strategies.question_guided import QuestionGuided
from tests.fakes import SUPPORTED, TWO_HOPS, Gate
from tests.runs.conftest import ended, events_until_end
from tests.runs.steady import Steady, SteadyContainer, scripted
from tests.runs.test_taking_up import carried_out, numbers, one_database, outcomes, timeless
from tests.waiting import LONG, until

__all__ = ["one_database"]

CLAIM = Claim("The author of Hamlet was born in England.")


class SpeculativeSteady(Steady):
    """Steady modules whose strategy makes speculative calls."""

    def strategy_for(self, options: RunOptions) -> QuestionGuided:
        return replace(super().strategy_for(options), speculative=True)


class SpeculatingContainer(SteadyContainer):
    """A container whose runs all use the same SpeculativeSteady modules."""

    def __init__(self, script=TWO_HOPS, before_step: Callable[[str], None] = lambda step: None) -> None:
        super().__init__(script, before_step)
        self.steady = SpeculativeSteady(script, before_step)


THREE = scripted(["kept", "kept", "kept"], 2, SUPPORTED)
"""The verifier is satisfied after the second hop, so a speculative third question is not used."""


def test_unused_speculative_calls_count_in_the_runs_usage_and_the_daily_sum(runs_with, sessions):
    both = threading.Barrier(2, timeout=LONG)
    container = SpeculatingContainer(
        THREE, lambda step: both.wait() if step in ("question 3", "sufficiency 2") else None
    )
    runs = runs_with(container)
    report = ended(runs, runs.start(CLAIM, RunOptions(), "me"))
    assert "question 3" in container.steady.calls
    assert report.usage.calls == len(container.steady.calls) == Spending(sessions).today().calls


def test_an_unused_call_that_returns_after_the_end_only_adds_to_the_daily_sum(runs_with, sessions):
    gate = Gate("question 3")
    container = SpeculatingContainer(
        THREE, lambda step: gate(step) if step != "sufficiency 2" else until(gate.reached.is_set)
    )
    runs = runs_with(container)
    run_id = runs.start(CLAIM, RunOptions(), "me")
    events = events_until_end(runs, run_id)
    before = Spending(sessions).today()
    gate.open()
    until(lambda: Spending(sessions).today() == before + Usage(1, 10, 2))
    assert runs.follow(run_id, 0, 0) == tuple(events)
    assert "question 3" not in {each.event.phase for each in events if isinstance(each.event, PhaseEntered)}


def test_a_kept_hop_is_stored_at_once_while_other_calls_are_still_running(runs_with):
    gate = Gate("sufficiency 1")
    runs = runs_with(SpeculatingContainer(before_step=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    until(lambda: any(isinstance(each.event, HopKept) for each in runs.follow(run_id, 0, 0)))
    gate.open()
    assert ended(runs, run_id).verdict == TWO_HOPS.verdict


def test_the_call_limit_applies_to_speculative_calls(runs_with):
    """Three calls are allowed, and the third is under way with two others when the limit is reached."""
    together = threading.Barrier(3, timeout=LONG)
    at_once = ("validation 1", "sufficiency 1", "question 2")
    container = SpeculatingContainer(THREE, lambda step: together.wait() if step in at_once else None)
    runs = runs_with(container, limits=Limits(calls=3))
    report = ended(runs, runs.start(CLAIM, RunOptions(), "me"))
    assert (report.stopped_because, len(report.hops)) == (Code.RUN_CALLS(amount=3), 1)
    assert sorted(container.steady.calls) == sorted(["question 1", "answer 1", *at_once, "conclusion 1"])


def test_a_resumed_run_reuses_speculative_calls(runs_with):
    gate = Gate("validation 1")
    container = SpeculatingContainer(before_step=gate)
    runs = runs_with(container)
    run_id = runs.start(CLAIM, RunOptions(), "me")
    until(lambda: {"sufficiency 1", "answer 2"} <= set(container.steady.calls))
    runs.stop()
    gate.open()
    runs.stop(wait=LONG)
    made = set(container.steady.calls)
    others_container = SpeculatingContainer()
    others = runs_with(others_container)
    others.wake(run_id)
    assert ended(others, run_id).verdict == TWO_HOPS.verdict
    assert made.isdisjoint(others_container.steady.calls)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(outcomes, max_size=5),
    st.integers(0, 5),
    st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), max_size=3),
)
def test_a_cut_off_run_with_speculation_has_the_report_of_one_without(one_database, names, enough, deaths):
    script = scripted(names, enough, SUPPORTED)
    expected = carried_out(one_database, f"in turn {next(numbers)}", Steady(script), [])
    report = carried_out(one_database, f"ahead {next(numbers)}", SpeculativeSteady(script), deaths)
    assert timeless(report) == timeless(expected)
    assert report.usage.calls >= len([hop for hop in report.hops if hop.answer])
