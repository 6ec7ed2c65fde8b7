"""A page update contains exactly what its events changed, and each event is applied once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.events import (
    AnswerFound,
    HopKept,
    PhaseEntered,
    QuestionAsked,
    RunFailed,
    RunInterrupted,
    RunResumed,
    RunStarted,
    VerdictReached,
)
from app.domain.model import Claim, Question, RunOptions
from app.domain.report import reduce_events
from app.runs.service import Place, StoredEvent, StoredRun
from app.web.sse import PageUpdates
from tests.fakes import SUPPORTED, answer
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


def test_events_applied_one_by_one_make_the_same_report_as_all_at_once(reader):
    for stored in STORED[2:]:
        reader.render([stored])
    assert reader.run.report == report(STORED) and reader.run.last_seq == len(STORED)


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


def test_the_activity_of_an_open_hop_is_rendered_without_its_card(reader):
    reader.render(STORED[2:])
    html = reader.render([after(STORED, PhaseEntered("reading 8 passages"))])
    assert swapped(html)[:3] == ["hop-3", "at-work", "status"] and "Reading 8 passages" in html


def test_the_diagram_is_rendered_only_when_the_active_module_changes(reader):
    """Of the question, the search and the answer of a hop, the search changes no module."""
    asked, searching, found = STORED[2], after(STORED[:3], PhaseEntered("searching")), STORED[3]
    found = StoredEvent(5, found.seconds, found.event)
    lit = ["diagram" in swapped(reader.render([each])) for each in (asked, searching, found)]
    assert lit == [True, False, True]


def test_a_resumed_run_says_so_and_drops_the_unfinished_hop(reader):
    reader.render(STORED[2:])
    html = reader.render([after(STORED, RunResumed("The check was cut off."))])
    assert "Where was he born?" not in html and '<li id="hop-2" hidden hx-swap-oob="true"></li>' in html
    assert "taking the check up again" in html


@pytest.mark.parametrize(("times", "words"), [(1, "once"), (2, "twice"), (3, "3 times")])
@pytest.mark.parametrize("end", [VerdictReached(SUPPORTED), RunFailed("No."), RunInterrupted("No.")])
def test_an_ended_run_says_how_often_it_was_resumed(reader, times, words, end):
    stored = STORED
    for _ in range(times):
        stored += (after(stored, RunResumed("The check was cut off.")),)
    html = reader.render((*stored[2:], after(stored, end)))
    assert f". It was cut off and taken up again {words}.</span>" in html


def test_a_queue_position_is_rendered_only_when_it_changes(reader):
    assert "3rd in line, about 40 seconds" in reader.render_place(Place(3, 40))
    assert reader.render_place(Place(3, 40)) == ""
    assert "Next in line" in reader.render_place(Place(1, None))
    assert "Next in line" not in reader.render(STORED[2:3])
