"""Speculative calls in QACheck's loop: the length of its longest chain of model calls, and unchanged results."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.events import (
    Event,
    HopFailed,
    HopSetAside,
    PhaseEntered,
    QuestionAsked,
    TokensUsed,
    VerdictReached,
)
from app.domain.instrumentation import listening
from app.domain.model import Claim, RunOptions, Usage
from app.domain.ports import RunCommand
from tests.fakes import SUPPORTED, Gate
from tests.runs.steady import FAILED, Steady, scripted
from tests.strategies.lockstep import Lockstep, Modules, Steered
from tests.waiting import LONG, until

CLAIM = Claim("The author of Hamlet was born in England.")
ANSWERING = {"reciter, read by the model": ("recite", "read"), "reciter": ("recite",), "retriever-reader": ()}


def followed(strategy, options: RunOptions = RunOptions(), **doors) -> list[Event]:  # noqa: B008 - it is frozen
    """Return all events of a run, in order."""
    events: list[Event] = []
    with listening(events.append):
        for event in strategy.run(CLAIM, options, **doors):
            events.append(event)
    return events


def without_costs(events: list[Event]) -> list[Event]:
    """Return the events without costs and phases."""
    return [event for event in events if not isinstance(event, TokensUsed | PhaseEntered)]


def rounds(outcomes: list[str], answering: tuple[str, ...], last: bool) -> list[set[str]]:
    """Return the calls made in parallel in each round; `last`: whether the hop limit is reached."""
    kept = aside = 0
    planned = [{"question 0+0"}]
    for number, outcome in enumerate(outcomes, 1):
        planned += [{f"{each} {kept}+{aside}"} for each in answering]
        if last and number == len(outcomes):
            planned.append({f"validation {number}"})
        else:
            ahead = {f"validation {number}", f"sufficiency {number}", f"question {kept + 1}+{aside}"}
            planned.append(ahead if outcome != "answerless" else {f"question {kept}+{aside + 1}"})
        kept, aside = kept + (outcome == "kept"), aside + (outcome != "kept")
        if outcome == "set aside":
            planned.append({f"question {kept}+{aside}"})
    return [*planned, {"conclusion"}]


@pytest.mark.parametrize("answerer", ANSWERING)
@pytest.mark.parametrize("kept", [1, 3])
@pytest.mark.parametrize("last", [False, True])
def test_n_kept_hops_take_one_round_each_besides_the_answerers_and_two_more(answerer, kept, last):
    answering = ANSWERING[answerer]
    plan = Lockstep(rounds(["kept"] * kept, answering, last))
    modules = Modules(["kept"] * (kept + 1), 0 if last else kept, answering, plan)
    events = followed(modules.strategy(), RunOptions(max_hops=kept if last else 10))
    assert plan.done == (len(answering) + 1) * kept + 2
    assert sum(isinstance(event, QuestionAsked) for event in events) == kept
    in_vain = {f"{each} {kept}+0" for each in answering[:1]}
    assert set(plan.others) <= in_vain, "with one question, that is all that is made in vain"


@pytest.mark.parametrize("answerer", ANSWERING)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_set_aside_hop_takes_one_more_round_than_a_kept_one(answerer, at):
    answering = ANSWERING[answerer]
    outcomes = ["kept", "kept"]
    outcomes.insert(at, "set aside")
    if at == 2:
        outcomes.append("kept")
    kept = outcomes.count("kept")
    plan = Lockstep(rounds(outcomes, answering, False))
    events = followed(Modules([*outcomes, "kept"], len(outcomes), answering, plan).strategy(), RunOptions(max_hops=10))
    assert plan.done == (len(answering) + 1) * (kept + 1) + 2 + 1
    assert [event.hop for event in events if isinstance(event, HopSetAside)] == [at + 1]


def test_no_call_is_wasted_after_a_missing_answer():
    plan = Lockstep(rounds(["kept", "answerless", "kept"], ("recite",), False))
    modules = Modules(["kept", "answerless", "kept", "kept"], 3, ("recite",), plan)
    followed(modules.strategy())
    assert plan.done == 2 * 3 + 2
    assert {"question 2+0", "sufficiency 2"}.isdisjoint(modules.calls)


def test_only_the_first_call_of_the_next_answer_is_made_ahead():
    modules, at_last = Modules(["kept"] * 4, 3, ("recite", "read")), []

    def before(name: str) -> None:
        """The validation of hop 1 takes until hop 2 is recited, and a little longer."""
        if name == "validation 1":
            until(lambda: "recite 1+0" in modules.calls)
            time.sleep(0.05)
            at_last.extend(modules.calls)

    modules.before = before
    followed(modules.strategy())
    one_hop = {"question 0+0", "recite 0+0", "read 0+0", "validation 1"}
    assert set(at_last) == one_hop | {"sufficiency 1", "question 1+0", "recite 1+0"}


def test_after_a_fruitless_hop_the_next_answer_is_not_started_ahead():
    modules, at_last = Modules(["set aside", "kept", "kept", "kept"], 4, ("recite",)), []

    def before(name: str) -> None:
        """The validation of hop 2 takes until the next question is there, and a little longer."""
        if name == "validation 2":
            until(lambda: "question 1+1" in modules.calls)
            time.sleep(0.05)
            at_last.extend(modules.calls)

    modules.before = before
    followed(modules.strategy())
    assert "recite 1+1" not in at_last
    assert "recite 1+1" in modules.calls


outcomes = st.lists(st.sampled_from(["kept", "set aside", "answerless", "failed"]), max_size=6)


@settings(max_examples=60)
@given(outcomes, st.integers(0, 6), st.integers(1, 7), st.sampled_from([SUPPORTED, FAILED]), st.randoms())
def test_speculation_gives_the_same_events_for_any_replies_and_timing(
    names, enough, most, verdict, chance: random.Random
):
    script, options = scripted(names, enough, verdict), RunOptions(max_hops=most)
    slowly = Steady(script, lambda step: time.sleep(chance.choice([0, 0, 0.001, 0.003])))
    in_turn = followed(Steady(script).strategy_for(options), options)
    assert without_costs(followed(replace(slowly.strategy_for(options), speculative=True), options)) == without_costs(
        in_turn
    )


class FailsOn(Modules):
    """Modules one of whose calls fails, after the named other calls have started."""

    def failing(self, name: str, *after: str) -> FailsOn:
        def before(call: str) -> None:
            if call == name:
                until(lambda: set(after) <= set(self.calls))
                raise FAILED

        self.before = before
        return self


@pytest.mark.parametrize(
    "name, told_as",
    [
        ("question 1+0", HopFailed(2, "question generator", str(FAILED))),
        ("validation 1", HopFailed(1, "QA validator", str(FAILED))),
    ],
)
def test_a_needed_speculative_failure_is_handled_like_a_direct_one(name, told_as):
    made = [FailsOn(["kept"] * 4, 0, ("recite",)).failing(name) for _ in range(2)]
    ahead, in_turn = (
        without_costs(followed(each.strategy(way))) for each, way in zip(made, (True, False), strict=True)
    )
    assert told_as in ahead
    assert ahead == in_turn


def test_discarded_calls_are_never_reported_as_phases():
    modules = FailsOn(["set aside", "kept", "kept"], 2, ("recite",))
    events = followed(modules.strategy())
    phases = [event.phase for event in events if isinstance(event, PhaseEntered)]
    assert {"sufficiency 1", "question 1+0", "recite 1+0"}.isdisjoint(phases)
    assert "conclusion" in phases


def test_the_cost_of_discarded_calls_is_reported_before_the_final_event():
    modules = Modules(["kept", "kept"], 1)

    def before(name: str) -> None:
        """Make the discarded question return a little later than the conclusion."""
        if name == "question 1+0":
            until(lambda: "conclusion" in modules.calls)
            time.sleep(0.05)

    modules.before = before
    events = followed(modules.strategy())
    assert "question 1+0" in modules.calls
    assert sum((event.usage for event in events if isinstance(event, TokensUsed)), Usage()).calls == len(modules.calls)
    assert isinstance(events[-1], VerdictReached)


@pytest.mark.parametrize("wish", [RunCommand.FINISH_AFTER_HOP, RunCommand.FINISH_NOW])
def test_ending_a_run_does_not_wait_for_discarded_calls(wish):
    gate, control = Gate("sufficiency 1"), Steered()
    modules = Modules(["kept"] * 3, 2)

    def before(name: str) -> None:
        if name == "validation 1":
            assert gate.reached.wait(LONG)
            control.commands = [wish]
        gate(name)

    modules.before = before
    events = without_costs(followed(modules.strategy(), control=control))
    assert isinstance(events[-1], VerdictReached)
    assert [event.hop for event in events if isinstance(event, QuestionAsked)] == [1]
    gate.open()
