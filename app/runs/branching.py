"""Branches: runs that continue an earlier run from one of its hops.

A branch starts with the earlier run's events of the hops before that one, so no model is called for them again.
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
_INHERITED = (QuestionAsked, AnswerFound, *_CLOSING, StepFailed, SufficiencyJudged, TroubleMet)
"""Phases, costs and resumptions are not inherited: they belong to the earlier run."""


def inherited_events(
    events: Iterable[Event], report: Report, parent: str, number: int, question: Question | None
) -> tuple[Event, ...]:
    """Return the first events of a branch that asks `question` in place of hop `number`, or leaves that hop out.

    `events` and `report` are those of the run `parent`. Raises InvalidInput where that run cannot have this branch.
    """
    hop = hop_to_change(report, number)
    first = (RunBranched(Branch(parent, number, question)), *_before(events, number))
    if question is not None:
        return first
    if not hop.question.text:
        raise InvalidInput("That hop has no question, so there is nothing to leave out.", "question")
    found = (AnswerFound(number, hop.answer),) if hop.answer else ()
    return (*first, QuestionAsked(number, hop.question), *found, HopSetAside(number, LEFT_OUT))


def hop_to_change(report: Report, number: int) -> Hop:
    """Return that hop of an ended run. Raises InvalidInput for an unknown hop or an unfinished run."""
    if report.imported:
        raise InvalidInput("An imported report cannot be gone on from; ask its claim again instead.", "hop")
    if not report.ended:
        raise InvalidInput("This check still goes on; stop it first, or wait for its end.", "hop")
    found = next((hop for hop in report.hops if hop.number == number and hop.status is not HopStatus.OPEN), None)
    if found is None:
        raise InvalidInput(f"This check has no hop {number}.", "hop")
    return found


def _before(events: Iterable[Event], number: int) -> tuple[Event, ...]:
    """Return the inherited events before hop `number`, without hops that were interrupted and asked again."""
    kept: list[Event] = []
    for event in events:
        if getattr(event, "hop", 0) >= number:
            break
        if isinstance(event, RunResumed):
            closed = {each.hop for each in kept if isinstance(each, _CLOSING)}
            kept = [each for each in kept if getattr(each, "hop", None) in {None, *closed}]
        elif isinstance(event, _INHERITED):
            kept.append(event)
    return tuple(kept)
