"""A branch keeps the hops before the changed one without asking them again, and asks the changed question."""

from __future__ import annotations

import pytest

from app.domain.errors import InvalidInput
from app.domain.events import QuestionAsked, RunResumed
from app.domain.messages import Code
from app.domain.model import Branch, Claim, HopStatus, Judgement, Question, RunOptions
from app.runs.service import Runs, inherited_events
from tests.fakes import SUPPORTED, Gate, Script, ScriptedHop, answer
from tests.runs.conftest import ended, lapse
from tests.runs.steady import FAILED, SteadyContainer
from tests.waiting import LONG

CLAIM = Claim("The author of Hamlet was born in England.", "A visitor", "2020-10-31")
TURNED_DOWN = Judgement(False, "It is not tied to the claim.")


def hop(n: int, **fields) -> ScriptedHop:
    return ScriptedHop(f"Question {n}?", **{"answer": answer(f"answer {n}"), **fields})


ENOUGH = Judgement(True, "Enough.")
THREE = Script((hop(1), hop(2), hop(3, enough=ENOUGH)), SUPPORTED)
EDITED = Script((hop(1), ScriptedHop("Mine, please?", answer("mine"), enough=ENOUGH)), SUPPORTED)


@pytest.fixture
def parent(runs_with):
    """A function that runs a script to its end and returns the id of the run."""

    def run(script: Script = THREE) -> str:
        runs = runs_with(SteadyContainer(script))
        run_id = runs.start(CLAIM, RunOptions(), "me")
        ended(runs, run_id)
        return run_id

    return run


@pytest.fixture
def branching(runs_with):
    """A function that returns Runs on a script and the list of the calls they make."""

    def make(script: Script) -> tuple[Runs, list[str]]:
        container = SteadyContainer(script)
        return runs_with(container), container.steady.calls

    return make


def asked(report) -> list[str]:
    return [hop.question.text for hop in report.hops]


def test_an_edited_question_is_asked_verbatim_and_earlier_hops_cost_no_calls(parent, branching):
    first, (runs, calls) = parent(), branching(EDITED)
    before = runs.report(first)
    child = runs.branch(first, 2, Question("Mine, please?"), RunOptions(), "me")
    report = ended(runs, child)
    assert asked(report) == ["Question 1?", "Mine, please?"]
    assert calls == ["answer 2", "validation 2", "sufficiency 2", "conclusion 1"]
    assert report.hops[0] == before.report.hops[0]
    assert (report.claim, report.branch) == (CLAIM, Branch(first, 2, Question("Mine, please?")))
    assert report.usage.calls == 4, "what the parent spent is the parent's"
    assert runs.report(first) == before, "the parent stays as it was"
    assert [each.id for each in runs.queries.branches(first)] == [child]


def test_a_left_out_hop_is_passed_to_the_generator_as_set_aside(parent, branching):
    runs, calls = branching(THREE)
    report = ended(runs, runs.branch(parent(), 2, None, RunOptions(), "me"))
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT, HopStatus.SET_ASIDE, HopStatus.KEPT]
    assert report.hops[1].reason == Code.LEFT_OUT()
    assert calls == ["question 3", "answer 3", "validation 3", "sufficiency 3", "conclusion 1"]


def test_leaving_out_the_hop_after_a_rejected_one_does_not_end_the_questioning(parent, branching):
    script = Script((hop(1, useful=TURNED_DOWN), hop(2), hop(3, enough=ENOUGH)), SUPPORTED)
    runs, _ = branching(script)
    report = ended(runs, runs.branch(parent(script), 2, None, RunOptions(), "me"))
    assert asked(report) == ["Question 1?", "Question 2?", "Question 3?"]
    assert [hop.number for hop in report.context] == [3]


def test_a_branch_can_use_another_answerer_from_its_hop_on(parent, branching):
    runs, _ = branching(THREE)
    child = runs.branch(parent(), 3, Question("Question 3?"), RunOptions(answerer="flan-t5"), "me")
    report = ended(runs, child)
    assert (report.options.answerer, asked(report)[2], report.verdict) == ("flan-t5", "Question 3?", SUPPORTED)


def test_inherited_hops_are_unchanged_whatever_their_outcome(parent, branching):
    script = Script((hop(1, useful=TURNED_DOWN), hop(2), ScriptedHop("Question 3?", FAILED), hop(4)), SUPPORTED)
    first, (runs, _) = parent(script), branching(script)
    child = runs.branch(first, 4, Question("Question 4?"), RunOptions(), "me")
    assert ended(runs, child).hops[:3] == runs.report(first).report.hops[:3]


def test_a_hop_that_was_repeated_after_a_cut_off_is_inherited_once(runs_with, sessions):
    gate = Gate("answer 2")
    runs = runs_with(SteadyContainer(THREE, gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    lapse(sessions, run_id)
    others = runs_with(SteadyContainer(THREE))
    others.wake(run_id)
    report = ended(others, run_id)
    gate.open()
    events = [each.event for each in others.follow(run_id, 0, 0)]
    assert RunResumed(Code.CUT_OFF()) in events
    inherited = inherited_events(events, report, run_id, 3, Question("Mine?"))
    assert [each.hop for each in inherited if isinstance(each, QuestionAsked)] == [1, 2]


def test_the_hop_in_progress_when_a_run_was_stopped_can_be_asked_again(runs_with, branching):
    gate = Gate("answer 2")
    runs = runs_with(SteadyContainer(THREE, gate))
    first = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(LONG)
    runs.interrupt(first, "Its owner stopped it.")
    gate.open()
    others, _ = branching(EDITED)
    child = others.branch(first, 2, Question("Mine, please?"), RunOptions(), "me")
    assert [hop.status for hop in ended(others, child).hops] == [HopStatus.KEPT] * 2


def test_a_hop_without_a_question_cannot_be_left_out(parent, branching):
    first, (runs, _) = parent(Script((ScriptedHop(FAILED), hop(2)), SUPPORTED)), branching(THREE)
    with pytest.raises(InvalidInput, match="no question"):
        runs.branch(first, 1, None, RunOptions(), "me")
