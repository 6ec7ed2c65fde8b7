"""An update of a run's page has what its events changed; after any interruption the next one loses no hop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from itertools import combinations

import pytest
from lxml import html

from app.domain.events import (
    AnswerFound,
    Event,
    HopFailed,
    HopKept,
    HopSetAside,
    PhaseEntered,
    QuestionAsked,
    QuestioningEnded,
    RunResumed,
    RunStarted,
    SufficiencyJudged,
    TokensUsed,
    TroubleMet,
    VerdictReached,
)
from app.domain.model import Claim, Judgement, Question, RunOptions, Usage
from app.domain.report import Report, reduce_events
from app.runs.event_store import WAITING
from app.runs.service import StoredEvent, StoredRun
from app.web.run_view import run_page
from app.web.sse import PageUpdates
from tests.fakes import SUPPORTED, answer
from tests.web.test_sse import swapped

SPENT = TokensUsed(Usage(1, 10, 2))
STORED = tuple(
    StoredEvent(number, number / 8, event)
    for number, event in enumerate(
        (
            RunStarted(Claim("Hamlet was written in England."), RunOptions(max_hops=4)),
            WAITING,
            PhaseEntered("starting"),
            PhaseEntered("thinking of a question"),
            QuestionAsked(1, Question("Who wrote Hamlet?")),
            PhaseEntered("searching 13,652 passages"),
            SPENT,
            AnswerFound(1, answer("William Shakespeare")),
            HopKept(1, "It is tied to the claim."),
            SPENT,
            SufficiencyJudged(Judgement(False, "More is needed.")),
            PhaseEntered("thinking of a question"),
            QuestionAsked(2, Question("Is it a play?")),
            AnswerFound(2, answer(None)),
            HopSetAside(2, "There was no answer."),
            PhaseEntered("thinking of a question"),
            QuestionAsked(3, Question("Where was he?")),
            PhaseEntered("reading 8 passages"),
            RunResumed("The check was cut off."),
            PhaseEntered("thinking of a question"),
            QuestionAsked(3, Question("Where was he born?")),
            TroubleMet("The search engine failed. Another one was asked."),
            HopFailed(3, "answerer", "The reader took too long."),
            QuestionAsked(4, Question("Where did he live?")),
            AnswerFound(4, answer("England")),
            HopKept(4, "It is tied to the claim."),
            QuestioningEnded("The limit of 4 hops was reached."),
            PhaseEntered("weighing the evidence"),
            SPENT,
            VerdictReached(SUPPORTED),
        ),
        1,
    )
)
ASKED_TWICE = STORED[:13]
"""The events until the second question is asked."""
NUMBERS = range(2, len(STORED) + 1)
"""Numbers of events after which a page can be loaded: every run begins with two."""


def report(stored: Sequence[StoredEvent]) -> Report:
    return reduce_events((each.event, each.seconds) for each in stored)


def run_after(events: int) -> StoredRun:
    return StoredRun("r", "somebody", datetime.now(UTC), events, report(STORED[:events]))


def after(stored: Sequence[StoredEvent], event: Event) -> StoredEvent:
    return StoredEvent(stored[-1].seq + 1, stored[-1].seconds + 1, event)


def update_for(seen: int, now: int, reader: PageUpdates | None = None) -> str:
    """Return the update for a reader who has seen `seen` events when there are `now`; by default for a new page."""
    message = (reader or PageUpdates(run_after(now))).render(STORED[seen:now])
    return "\n".join(line.removeprefix("data: ") for line in message.splitlines() if line.startswith("data: "))


def swap_in(page: html.HtmlElement, message: str) -> None:
    """Replace the elements of the page that have the ids of a message's elements, as htmx does."""
    pieces = html.document_fromstring(f"<body>{message}</body>")
    page.find(".//title").text = pieces.find(".//title").text
    for piece in pieces.xpath("//*[@hx-swap-oob]"):
        del piece.attrib["hx-swap-oob"]
        (place,) = page.xpath("//*[@id=$name]", name=piece.get("id"))
        piece.tail = place.tail
        place.getparent().replace(place, piece)


def shown(page: html.HtmlElement) -> Sequence[str]:
    """Return the visible parts of a run's page, without the clock, after checking that all ids are unique.

    `aria-live` of a card counts only while the card is replaced, so it is left out (the last test is about it).
    """
    for card in page.xpath("//ol/li[@aria-live]"):
        del card.attrib["aria-live"]
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    seen = page.xpath("//title | //*[@id='status' or @id='verdict' or @id='diagram' or @id='usage'] | //ol/li")
    return [html.tostring(each, with_tail=False).decode() for each in seen if each.get("hidden") is None]


@pytest.fixture
def loaded(make_app) -> Iterator[dict[int, html.HtmlElement]]:
    """The page of a run as a visitor who is not its owner loads it, by number of events."""
    with make_app().test_request_context("/runs/r"):
        yield {number: html.document_fromstring(run_page(run_after(number))) for number in NUMBERS}


def test_after_any_interruption_the_next_message_brings_the_page_up_to_date(loaded):
    for seen, now in combinations(NUMBERS, 2):
        page = deepcopy(loaded[seen])
        swap_in(page, update_for(seen, now))
        assert shown(page) == shown(loaded[now]), f"events {seen + 1} to {now}"


def test_after_each_event_the_updated_page_equals_the_loaded_page(loaded):
    page, reader = loaded[2], PageUpdates(run_after(2))
    for seen in NUMBERS[:-1]:
        swap_in(page, update_for(seen, seen + 1, reader))
        assert shown(page) == shown(loaded[seen + 1]), f"event {seen + 1}"


def test_a_screen_reader_announces_each_hop_with_its_outcome_and_without_its_evidence(make_app):
    """The trail is a live log: all is read out except aria-live=off. A resumed run renders every card again."""
    reader, heard = PageUpdates(run_after(2)), []
    with make_app().test_request_context("/runs/r"):
        messages = [update_for(seen, seen + 1, reader) for seen in NUMBERS[:-1]]
    for seen, message in zip(NUMBERS, messages, strict=False):
        pieces = html.document_fromstring(f"<body>{message}</body>")
        for card in pieces.xpath("//li[starts-with(@id, 'hop-') and not(@hidden) and not(@aria-live='off')]"):
            assert {each.get("aria-live") for each in card.xpath(".//details[@class='fold']")} <= {"off"}
            heard.append((type(STORED[seen].event), card.get("id")))
    assert heard == [
        (HopKept, "hop-1"),
        (HopSetAside, "hop-2"),
        (RunResumed, "hop-2"),
        (HopFailed, "hop-3"),
        (HopKept, "hop-4"),
    ]


@pytest.fixture
def reader(make_app) -> Iterator[PageUpdates]:
    """The page updates of a reader who has seen the first four events."""
    with make_app().test_request_context():
        yield PageUpdates(run_after(4))


@pytest.mark.parametrize(
    ("events", "pieces"),
    [
        (STORED[4:5], ["hop-1", "hop-2", "status", "clock", "usage", "diagram"]),
        (STORED[4:13], ["hop-1", "hop-2", "hop-3", "status", "clock", "usage", "diagram"]),
        ([after(STORED[:4], PhaseEntered("reading"))], ["hop-1", "status", "clock", "usage", "diagram"]),
    ],
)
def test_only_changed_sections_and_the_placeholder_of_the_next_hop_are_rendered(reader, events, pieces):
    assert swapped(reader.render(events)) == pieces
