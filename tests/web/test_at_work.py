"""The diagram highlights the module whose reply the run waits for, at every call of every strategy."""

from __future__ import annotations

import pytest

from app.domain.events import (
    AnswerFound,
    HopFailed,
    HopKept,
    PhaseEntered,
    QuestionAsked,
    RunResumed,
    RunStarted,
)
from app.domain.model import Claim, Question, RunOptions
from app.domain.report import Report, apply_event, reduce_events
from app.runs.event_store import WAITING
from app.web.views import at_work, is_announced
from tests.fakes import FAILING, ONE_SET_ASIDE, TWO_HOPS, answer, scripted_strategy

CLAIM = Claim("Hamlet was written in England.")
GUIDED = (RunStarted(CLAIM, RunOptions(max_hops=5)), WAITING, PhaseEntered("starting"))
ASKED, FOUND, KEPT = QuestionAsked(1, Question("Who?")), AnswerFound(1, answer("He")), HopKept(1, "It helps.")

BOXES = {
    "question": "generator",
    "answer": "answerer",
    "validation": "validator",
    "sufficiency": "verifier",
    "conclusion": "reasoner",
}


def report_after(*events) -> Report:
    return reduce_events((event, 0.0) for event in events)


def box(*events) -> str | None:
    module = at_work(report_after(*events))
    return module.box if module else None


@pytest.mark.parametrize("script", [TWO_HOPS, ONE_SET_ASIDE, FAILING])
def test_the_highlighted_module_is_the_one_being_called(script):
    """Run the real loop over scripted modules and compare each call with the module that the report highlights."""
    report, called, lit = report_after(*GUIDED), [], []

    def before_step(step: str) -> None:
        called.append(BOXES[step.split()[0]])
        lit.append(at_work(report).box)

    try:
        for event in scripted_strategy(script, before_step).run(CLAIM, report.options):
            report = apply_event(report, event, 0.0)
    except RuntimeError:
        assert script is FAILING
    assert lit == called and len(called) > 4


def test_a_resumed_run_announces_only_cards_after_which_nothing_was_answered():
    failed = (QuestionAsked(2, Question("Where?")), HopFailed(2, "answerer", "No reply."))
    report = report_after(*GUIDED, ASKED, FOUND, KEPT, *failed)
    assert [is_announced(hop, report) for hop in report.hops] == [True, True]
    later = (QuestionAsked(3, Question("When?")), AnswerFound(3, answer("Then")), HopKept(3, "It helps."))
    report = report_after(*GUIDED, ASKED, FOUND, KEPT, *failed, *later, RunResumed("Cut off."))
    assert [is_announced(hop, report) for hop in report.hops] == [False, False, True]
