"""A page update contains exactly what its events changed, and each event is applied once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.events import (
    AnswerFound,
    HopKept,
    PhaseEntered,
    QuestionAsked,
    RunResumed,
    RunStarted,
)
from app.domain.model import Claim, Question, RunOptions
from app.domain.report import reduce_events
from app.runs.service import StoredEvent, StoredRun
from app.web.sse import PageUpdates
from tests.fakes import answer
from tests.web.test_sse import swapped

HAPPENED = (
    RunStarted(Claim("Hamlet was written in England."), RunOptions(max_hops=3)),
    PhaseEntered("starting"),
    QuestionAsked(1, Question("Who wrote Hamlet?")),
    AnswerFound(1, answer("William Shakespeare")),
    HopKept(1, "It is tied to the claim."),
    QuestionAsked(2, Question("Where was he born?")),
    PhaseEntered("searching"),
)
STORED = tuple(StoredEvent(number, number / 10, event) for number, event in enumerate(HAPPENED, 1))


@pytest.fixture
def reader(make_app):
    """The page updates of a reader who has seen the first two events."""
    with make_app().test_request_context():
        yield PageUpdates(StoredRun("r", "somebody", datetime.now(UTC), 2, report(STORED[:2])))


def report(stored):
    return reduce_events((each.event, each.seconds) for each in stored)


def after(stored: tuple[StoredEvent, ...], event) -> StoredEvent:
    return StoredEvent(stored[-1].seq + 1, stored[-1].seconds + 1, event)


@pytest.mark.parametrize(
    ("events", "pieces"),
    [
        (STORED[2:3], ["hop-1", "hop-2", "status", "clock", "usage", "diagram"]),
        (STORED[2:6], ["hop-1", "hop-2", "hop-3", "status", "clock", "usage", "diagram"]),
        ([after(STORED[:2], PhaseEntered("reading"))], ["hop-1", "status", "clock", "usage", "diagram"]),
    ],
)
def test_only_changed_sections_and_the_placeholder_of_the_next_hop_are_rendered(reader, events, pieces):
    assert swapped(reader.render(events)) == pieces


def test_a_resumed_run_says_so_and_drops_the_unfinished_hop(reader):
    reader.render(STORED[2:])
    html = reader.render([after(STORED, RunResumed("The check was cut off."))])
    assert "Where was he born?" not in html and '<li id="hop-2" hidden hx-swap-oob="true"></li>' in html
    assert "taking the check up again" in html
