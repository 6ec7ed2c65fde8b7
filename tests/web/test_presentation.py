"""Template filters: words, short forms and links."""

from __future__ import annotations

import pytest

from app.domain.messages import Code
from app.domain.model import Origin, Passage, Span
from app.runs.version_1 import coded
from app.web.report_view import excerpt, web_link
from app.web.views import page_words


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


@pytest.mark.parametrize(
    "stopped",
    [Code.STOPPED_BY_OWNER(), coded("Its owner stopped this check.")],
    ids=["now", "version 1"],
)
def test_the_owner_reads_that_they_did_it_and_others_that_the_owner_did(stopped):
    assert page_words(stopped, is_owner=True) == "You stopped this check."
    assert page_words(stopped, is_owner=False) == "Its owner stopped this check."
