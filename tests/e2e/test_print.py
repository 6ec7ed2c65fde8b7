"""A report printed to PDF from a real browser and read back."""

from __future__ import annotations

import io

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


@pytest.fixture
def pages(live, visitor) -> list[str]:
    """The text of each printed page of a report whose cards are folded, in dark colours."""
    page = visitor(color_scheme="dark")
    check(page, live(scripted_container(SCRIPT)))
    expect_verdict(page)
    page.goto(page.url + "?cards=folded")
    page.get_by_role("button", name="Colours").click()  # light
    page.get_by_role("button", name="Colours").click()  # dark, now by choice
    document = PdfReader(io.BytesIO(page.pdf(format="A4", prefer_css_page_size=True)))
    return [" ".join(each.extract_text().split()) for each in document.pages]


def test_the_pdf_of_a_report_is_complete_and_has_no_controls(pages):
    """Every card and passage is open, each source has its address, and controls for the screen are left out."""
    text = " ".join(pages)
    assert CLAIM in text and "Supported" in text and "/runs/" in text
    for number in range(1, HOPS):
        assert f"What is question {number}?" in text and f"Page {number}" in text
        assert text.count(f"Beginning {number}.") == text.count(f"End {number}.") == 1, "once, and whole"
        in_a_card = number <= 2  # cited by the verdict
        assert text.count(f"Here stands answer{number} in the middle.") == 1 + in_a_card
        assert f"https://en.wikipedia.org/wiki/Page_{number}" in text
    assert text.count("Nothing of use stands here.") == HOPS
    for pressed in (
        "Copy",
        "Share",
        "Expand all",
        "Collapse all",
        "Colours",
        "Check another",
        "How it works",
        "Delete",
    ):
        assert pressed not in text, pressed
    for asked in ("The whole passage", "Open at the passage", "Run again", "Skip to the content"):
        assert asked not in text, asked


def test_a_card_that_fits_on_a_page_is_not_split(pages):
    """A short hop is on one page with its answer, passage and address; the head of a long one is with its passage."""
    (short,) = [each for each in pages if "What is question 5?" in each]
    assert "A short one: answer5." in short and "https://en.wikipedia.org/wiki/Page_5" in short
    for number in range(1, HOPS):
        (head,) = [each for each in pages if f"What is question {number}?" in each]
        assert f"Beginning {number}." in head
    assert f"{len(pages)} of {len(pages)}" in pages[-1]
