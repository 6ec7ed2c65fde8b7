"""Words, short forms and links: how values look to a reader."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.reasoning.types import HopStatus, Label, Passage, Span
from app.web.presentation import FACES, confidence_words, duration, excerpt, moment, since, web_link


def test_every_label_and_status_has_a_face_with_word_and_icon():
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
