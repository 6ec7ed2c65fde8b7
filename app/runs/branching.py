"""A run that goes on from an earlier one: what it begins with.

The hops before the one that is changed stand, told in the events of the run they were asked in, so no model is called
for them again. What came after is left behind.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.errors import InvalidInput
from app.domain.events import (
    AnswerFound,
    Event,
    HopFailed,
    HopKept,
    HopSetAside,
    QuestionAsked,
    RunBranched,
    RunResumed,
    StepFailed,
    SufficiencyJudged,
    TroubleMet,
)
from app.domain.model import Branch, Hop, HopStatus, Question
from app.domain.report import Report

LEFT_OUT = "Its owner left it out."

_CLOSING = (HopKept, HopSetAside, HopFailed)
_TOLD = (QuestionAsked, AnswerFound, *_CLOSING, StepFailed, SufficiencyJudged, TroubleMet)
"""What is told of hops again; phases, costs and take-overs belong to the run in which they were."""


def inherited_events(
    events: Iterable[Event], report: Report, parent: str, number: int, question: Question | None
) -> tuple[Event, ...]:
    """What a run begins with that asks `question` in place of hop `number`, or leaves that hop out when it is None.

    `events` are those of the run `parent`, whose report this is. Raises InvalidInput where nothing can branch off.
    """
    hop = hop_to_change(report, number)
    begins = (RunBranched(Branch(parent, number, question)), *_before(events, number))
    if question is not None:
        return begins
    if not hop.question.text:
        raise InvalidInput("That hop has no question, so there is nothing to leave out.", "question")
    found = (AnswerFound(number, hop.answer),) if hop.answer else ()
    return (*begins, QuestionAsked(number, hop.question), *found, HopSetAside(number, LEFT_OUT))


def hop_to_change(report: Report, number: int) -> Hop:
    """That hop of an ended run. Raises InvalidInput where there is none, or the run still goes on."""
    if report.imported:
        raise InvalidInput("An imported report cannot be gone on from; ask its claim again instead.", "hop")
    if not report.ended:
        raise InvalidInput("This check still goes on; stop it first, or wait for its end.", "hop")
    found = next((hop for hop in report.hops if hop.number == number and hop.status is not HopStatus.OPEN), None)
    if found is None:
        raise InvalidInput(f"This check has no hop {number}.", "hop")
    return found


def _before(events: Iterable[Event], number: int) -> tuple[Event, ...]:
    """What was told before hop `number` began, without hops that were cut off and asked anew."""
    told: list[Event] = []
    for event in events:
        if getattr(event, "hop", 0) >= number:
            break
        if isinstance(event, RunResumed):
            closed = {each.hop for each in told if isinstance(each, _CLOSING)}
            told = [each for each in told if getattr(each, "hop", None) in {None, *closed}]
        elif isinstance(event, _TOLD):
            told.append(event)
    return tuple(told)
