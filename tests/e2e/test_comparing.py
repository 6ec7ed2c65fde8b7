"""Comparing checks and writing notes in a real browser: each test is one visit."""

from __future__ import annotations

import pytest

from tests.e2e.test_browser import check, expect_verdict
from tests.fakes import ONE_SET_ASIDE, TWO_HOPS, Gate, scripted_container

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect


def test_two_running_checks_are_followed_side_by_side(live, visitor):
    """A repeated check offers the earlier one for comparison; both columns update without a reload."""
    gate, page = Gate("answer 2"), visitor()
    address = live(scripted_container(TWO_HOPS, ONE_SET_ASIDE, gate=gate), workers=2)
    check(page, address)
    check(page, address)
    expect(page.locator("#hop-2")).to_be_visible()
    page.get_by_role("button", name="Compare (1)").click()
    page.get_by_role("button", name="Compare them").click()
    expect(page.locator("#agreement")).to_have_text("2 of 2 are still running.")
    expect(page.get_by_role("row", name="Verdict")).to_contain_text("Running")
    page.get_by_role("link", name="Check A", exact=True).focus()
    gate.open()
    expect(page.locator("#agreement")).to_contain_text("Both say the same: True")
    shared = page.get_by_role("row", name="Where was William Shakespeare born?")
    expect(shared).to_contain_text("same answer")
    expect(shared.get_by_role("cell")).to_contain_text(["Step 3", "Step 2"])
    expect(page.get_by_role("row", name="Is Hamlet a play?")).to_contain_text("Not asked")
    expect(page.get_by_role("link", name="Check A", exact=True)).to_be_focused()
    assert page.complaints == []


def test_a_question_is_added_beside_the_last_step_and_named_where_both_checks_are_compared(live, visitor):
    """On a phone, where each menu of the report leaves space at both edges."""
    page = visitor(viewport={"width": 390, "height": 844})
    check(page, live(scripted_container()))
    expect_verdict(page)
    parent = page.url
    expect(page.get_by_role("link", name="Change step 2")).to_be_visible()
    page.get_by_role("link", name="Add a question after step 2").press("Enter")
    page.get_by_label("Question for step 3").fill("When was he born?")
    page.get_by_role("button", name="Run from here").click()
    page.wait_for_url(lambda address: "/branch" not in address and address != parent)
    expect_verdict(page)
    expect(page.locator("#hop-3 h3")).to_have_text("When was he born?")
    page.goto(parent)
    for name in ("Share", "Export", "Run again", "Compare (1)"):
        page.get_by_role("button", name=name, exact=True).click()
        box = page.locator(".menu:popover-open").bounding_box()
        assert box["x"] >= 4 and box["x"] + box["width"] <= 386, name
    expect(page.locator("#compare-menu")).to_contain_text("Step 3 asked “When was he born?”")
    page.get_by_role("button", name="Compare them").click()
    expect(page.get_by_role("columnheader", name="Check B").first).to_contain_text("Step 3 asked “When was he born?”")
    assert page.complaints == []
