"""Comparing checks and writing notes in a real browser: each test is one visit."""

from __future__ import annotations

import pytest

from app.domain.model import Judgement
from tests.e2e.test_browser import CLAIM, check, expect_verdict
from tests.fakes import TWO_HOPS, Gate, Script, ScriptedHop, answer, scripted_container

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

THREE_HOPS = Script(
    (ScriptedHop("Is Hamlet a play?", answer(None), Judgement(False, "There was no answer.")), *TWO_HOPS.hops),
    TWO_HOPS.verdict,
)


def test_two_running_checks_are_followed_side_by_side_over_one_connection(live, visitor):
    """A repeated check offers the earlier one for comparison; both columns update without a reload."""
    gate, page = Gate("answer 2"), visitor()
    address = live(scripted_container(TWO_HOPS, THREE_HOPS, gate=gate), workers=2)
    check(page, address)
    check(page, address)
    expect(page.locator("#hop-2")).to_be_visible()
    page.get_by_role("button", name="Compare (1)").click()
    page.get_by_role("button", name="Compare them").click()
    expect(page.locator("#agreement")).to_have_text("2 of 2 are still running.")
    expect(page.get_by_role("row", name="Verdict")).to_contain_text("Running")
    page.get_by_role("link", name="Check A", exact=True).focus()
    gate.open()
    expect(page.locator("#agreement")).to_contain_text("Both say the same: Supported")
    shared = page.get_by_role("row", name="Where was William Shakespeare born?")
    expect(shared).to_contain_text("same answer")
    expect(shared.get_by_role("cell")).to_contain_text(["Step 3", "Step 2"])
    expect(page.get_by_role("row", name="Is Hamlet a play?")).to_contain_text("Not asked")
    expect(page.get_by_role("link", name="Check A", exact=True)).to_be_focused()
    asked = [each.removeprefix(address).partition("?")[0] for each in page.addresses]
    assert (asked.count("/compare"), asked.count("/compare/events")) == (1, 1)
    assert page.complaints == []


@pytest.mark.parametrize("width", [360, 1280])
def test_without_script_checks_are_selected_in_the_history_and_compared(live, visitor, width):
    """On a phone the runs are stacked in each row, with their letters; nothing is wider than the window."""
    page = visitor(java_script_enabled=False, viewport={"width": width, "height": 800})
    address = live(scripted_container(TWO_HOPS, THREE_HOPS))
    for _ in range(2):
        page.goto(address)
        page.get_by_label("Your claim").fill(CLAIM)
        page.get_by_role("button", name="Check it").click()
        expect_verdict(page)
    page.goto(f"{address}/history")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#agreement")).to_contain_text("Both say the same")
    expect(page.get_by_role("row", name="Who wrote Hamlet?").get_by_role("cell")).to_have_count(2)
    expect(page.locator("#questions .which").first).to_be_visible(visible=width < 700)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_note_is_written_in_its_card_and_a_refused_one_stays_in_the_box(live, visitor):
    """Notes appear at the end without a reload; a too long one comes back as typed and is saved once it is shorter."""
    gate, page = Gate("answer 2"), visitor()
    check(page, live(scripted_container(gate=gate)))
    expect(page.locator("#hop-2")).to_be_visible()
    expect(page.locator(".note")).to_have_count(0)
    gate.open()
    expect_verdict(page)
    hop = page.locator("#note-1")
    hop.get_by_text("Add a note").click()
    hop.get_by_label("I disagree").check()
    box = hop.get_by_role("textbox")
    box.fill("x" * 2001)
    hop.get_by_role("button", name="Save").click()
    expect(hop.get_by_role("alert")).to_contain_text("The note has 2,001 characters")
    expect(box).to_have_value("x" * 2001)
    expect(box).to_be_focused()
    box.fill("Marlowe wrote it.")
    page.keyboard.press("Control+Enter")
    expect(hop.locator(".noted")).to_contain_text("You disagree")
    expect(hop.locator(".noted")).to_be_focused()
    expect(box).to_be_hidden()
    page.reload()
    expect(hop.locator(".noted")).to_contain_text("Marlowe wrote it.")
    hop.get_by_text("Change your note").click()
    hop.get_by_role("button", name="Remove it").click()
    expect(hop.get_by_text("Add a note")).to_be_visible()
    assert page.complaints == []
