"""Template filters: words, short forms and links."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.domain.messages import Code
from app.domain.model import HopStatus, Label, Origin, Passage, Span, Usage
from app.runs.service import Place
from app.runs.version_1 import coded
from app.web.report_view import excerpt, web_link
from app.web.views import (
    FACES,
    confidence_words,
    duration,
    moment,
    page_words,
    place_words,
    since,
    usage_words,
)


def test_every_label_and_status_has_a_word_an_icon_and_a_tone():
    for value in (*Label, *HopStatus, "running", "failed", "interrupted"):
        assert FACES[value].word and FACES[value].icon and FACES[value].tone


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (4.24, "4.2 s"), (59.94, "59.9 s"), (59.96, "1 min 0 s"), (65.4, "1 min 5 s")]
)
def test_durations_read_naturally(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("confidence", "word"), [(0.85, "High"), (0.84, "Moderate"), (0.6, "Moderate"), (0.59, "Low")])
def test_confidence_in_words(confidence, word):
    assert confidence_words(confidence) == f"{word} confidence"


@pytest.mark.parametrize(
    ("position", "seconds", "words"),
    [
        (1, None, "Next in line"),
        (2, 3, "2nd in line, a few seconds"),
        (3, 38, "3rd in line, about 40 seconds"),
        (11, 130, "11th in line, about 3 minutes"),
        (22, 7200, "22nd in line, about 2 hours"),
    ],
)
def test_a_place_in_the_queue_in_words(position, seconds, words):
    assert place_words(Place(position, seconds)) == words


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(), "0 calls, 0 tokens"),
        (Usage(1, 1, 0), "1 call, 1 token"),
        (Usage(12, 4000, 210, 3), "12 calls, 3 cached, 4,210 tokens"),
        (Usage(2, 10, 5, 0, 0.01234), "2 calls, 15 tokens, cost 0.0123"),
        (Usage(2, 10, 5, 0, 0.0), "2 calls, 15 tokens, cost 0.0000"),
    ],
)
def test_tokens_are_always_shown_and_costs_only_where_there_are_prices(usage, words):
    assert usage_words(usage) == words


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://en.wikipedia.org/wiki/Hamlet", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://", False),
        ("//example.org", False),
        ("https://[", False),
        (None, False),
    ],
)
def test_only_web_addresses_are_links(url, safe):
    assert web_link(Passage("text", "title", "source", url)) == (url if safe else None)


def test_a_recited_passage_has_no_link():
    assert web_link(Passage("text", "title", "source", "https://example.org", origin=Origin.RECITED)) is None


def test_a_short_passage_is_shown_whole():
    passage = Passage("Hamlet is a play by Shakespeare.", "Hamlet", "source")
    assert excerpt(Span(passage, 20, 31)) == ("Hamlet is a play by ", "Shakespeare", ".", False, False)


def test_a_long_passage_is_cut_between_words_around_the_answer():
    text = "before " * 50 + "ANSWER" + " after" * 50
    at = text.index("ANSWER")
    part = excerpt(Span(Passage(text, "title", "source"), at, at + 6), around=20)
    assert part == ("before before ", "ANSWER", " after after after", True, True)


def test_moments_are_in_utc():
    at = datetime(2026, 3, 4, 1, 5, tzinfo=timezone(timedelta(hours=2)))
    assert moment(at) == "3 Mar 2026, 23:05 UTC"


def test_time_since_is_never_negative():
    assert since(datetime.now(UTC) + timedelta(hours=1)) == 0.0
    assert 9.9 < since(datetime.now(UTC) - timedelta(seconds=10)) < 12


@pytest.mark.parametrize(
    "stopped",
    [Code.STOPPED_BY_OWNER(), coded("Its owner stopped this check.")],
    ids=["now", "version 1"],
)
def test_the_owner_reads_that_they_did_it_and_others_that_the_owner_did(stopped):
    assert page_words(stopped, is_owner=True) == "You stopped this check."
    assert page_words(stopped, is_owner=False) == "Its owner stopped this check."
