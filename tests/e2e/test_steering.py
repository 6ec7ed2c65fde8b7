"""Steering a check in a real browser: stop, conclude and branch, by keyboard, in two tabs, with and without script."""

from __future__ import annotations

import pytest

from tests.e2e.test_browser import check, expect_verdict
from tests.fakes import Gate, scripted_container

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect


def expect_no_verdict(page) -> None:
    expect(page.get_by_role("heading", level=2, name="No verdict: the check was interrupted")).to_be_visible()


def test_stopping_by_keyboard_keeps_finished_hops_and_moves_the_focus_on(live, visitor):
    gate, page = Gate("answer 2"), visitor()
    check(page, live(scripted_container(gate=gate)))
    expect(page.locator("#hop-2 h3")).to_be_visible()
    page.get_by_role("button", name="Stop").press("Enter")
    expect_no_verdict(page)
    expect(page.locator("#hop-1 .chip")).to_have_text("Used")
    expect(page.locator("#hop-2 .chip")).to_have_text("Interrupted")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.locator("#steering")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#verdict :focus")).to_have_count(1)
    gate.open()
    assert page.complaints == []


@pytest.mark.parametrize("trouble", ["deleted", "offline"])
def test_a_note_that_could_not_be_saved_says_so_and_keeps_the_typed_text(live, visitor, trouble):
    page = visitor()
    check(page, live())
    expect_verdict(page)
    note = page.locator("#note-1")
    note.get_by_text("Add a note").click()
    note.get_by_role("textbox").fill("Marlowe wrote it.")
    if trouble == "deleted":
        other = page.context.new_page()
        other.goto(f"{page.url}/delete")
        other.get_by_role("button", name="Delete it").click()
        other.get_by_role("button", name="Undo").wait_for()
    else:
        page.route("**/notes", lambda route: route.abort())
    for _ in range(2):
        with page.expect_event("response" if trouble == "deleted" else "requestfailed"):
            note.get_by_role("button", name="Save").click()
        expect(note.get_by_role("alert")).to_contain_text("That was not done")
    expect(note.get_by_role("textbox")).to_have_value("Marlowe wrote it.")
    if trouble == "deleted":
        other.get_by_role("button", name="Undo").click()
        expect_verdict(other)
    else:
        page.unroute("**/notes")
    note.get_by_role("button", name="Save").click()
    expect(note.locator(".noted")).to_contain_text("Marlowe wrote it.")
