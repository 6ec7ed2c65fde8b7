"""A report printed to PDF from a real browser and read back."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from pypdf import PdfReader

from tests.e2e.test_browser import CLAIM, check, expect_verdict
from tests.fakes import SUPPORTED, Script, ScriptedHop, answer, scripted_container

HOPS = 5
LONG = " ".join(f"Sentence {number} of a long passage says a little more about the play." for number in range(1, 13))


def story(number: int) -> str:
    """Return evidence that is longer than the part of a passage shown at first, with the answer in the middle."""
    return f"Beginning {number}. {LONG} Here stands answer{number} in the middle. {LONG} End {number}."


LONG_HOPS = [
    ScriptedHop(f"What is question {number}?", answer(f"answer{number}", story(number), f"Page {number}"))
    for number in range(1, HOPS)
]
SHORT_HOP = ScriptedHop("What is question 5?", answer("answer5", "A short one: answer5.", "Page 5"))
SCRIPT = Script((*LONG_HOPS, SHORT_HOP), SUPPORTED)


CONTROLS = (
    "Copy",
    "Share",
    "Expand all",
    "Collapse all",
    "Colours",
    "New check",
    "How it works",
    "Delete",
    "The whole passage",
    "Open at the passage",
    "Run again",
    "Skip to the content",
)


@pytest.fixture
def printed(live, visitor) -> Callable[[str], list[str]]:
    """Print a report in dark colours with its cards "open" or "folded", and return the text of each page."""
    page = visitor(color_scheme="dark")
    check(page, live(scripted_container(SCRIPT)))
    expect_verdict(page)

    def to_pdf(cards: str) -> list[str]:
        page.goto(f"{page.url.partition('?')[0]}?cards={cards}")
        page.get_by_role("button", name="Colours").click()  # light
        page.get_by_role("button", name="Colours").click()  # dark, now by choice
        document = PdfReader(io.BytesIO(page.pdf(format="A4", prefer_css_page_size=True)))
        return [" ".join(each.extract_text().split()) for each in document.pages]

    return to_pdf


def test_a_report_of_five_steps_prints_on_two_pages(printed):
    """With claim, verdict, day, link, and for each step question, answer, sentence and address; without controls."""
    pages = printed("folded")
    text = " ".join(pages)
    assert len(pages) == 2 and "2 of 2" in pages[-1]
    assert CLAIM in text and "Supported" in text and "/runs/" in text and f"{datetime.now(UTC):%b %Y}" in text
    for number in range(1, HOPS):
        assert f"What is question {number}?" in text and f"https://en.wikipedia.org/wiki/Page_{number}" in text
        in_a_card = number <= 2  # cited by the verdict
        assert text.count(f"Here stands answer{number} in the middle.") == 1 + in_a_card
    assert "Nothing of use stands here." not in text and "Beginning 1." not in text
    assert [control for control in CONTROLS if control in text] == []


@pytest.mark.parametrize("cards", ["folded", "open"])
def test_a_card_that_fits_on_a_page_is_not_split(printed, cards):
    pages = printed(cards)
    (short,) = [each for each in pages if "What is question 5?" in each]
    assert "A short one: answer5." in short and "https://en.wikipedia.org/wiki/Page_5" in short
    for number in range(1, HOPS):
        (head,) = [each for each in pages if f"What is question {number}?" in each]
        assert (f"Beginning {number}." if cards == "open" else f"Here stands answer{number}") in head
