"""Finding, deleting and restoring a check and publishing a report in a real browser."""

from __future__ import annotations

import re

import pytest

from tests.e2e.test_browser import check, expect_verdict
from tests.fakes import Gate, scripted_container

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

HAMLET = "The author of Hamlet was born in England."
TURKEY = "Erdoğan was born in İstanbul."


def checked(page, address: str, *claims: str) -> None:
    for claim in claims:
        check(page, address, claim)
        expect_verdict(page)


def listed(page):
    return page.locator(".past .recent-claim")


def test_an_earlier_check_is_found_while_typing(live, visitor):
    """The list and the address change without a reload."""
    page, address = visitor(), live()
    checked(page, address, HAMLET, TURKEY)
    page.get_by_role("link", name="History").first.click()
    expect(listed(page)).to_have_text([TURKEY, HAMLET])
    page.evaluate("window.stayed = true")
    page.get_by_label("Search").press_sequentially("ERDOGAN istan")
    expect(listed(page)).to_have_text([TURKEY])
    expect(page.get_by_role("status")).to_have_text("1 check")
    expect(page).to_have_url(re.compile(r"/history\?q=ERDOGAN"))
    assert page.evaluate("window.stayed"), "the page was not reloaded"
    page.get_by_label("Verdict").select_option(label="False")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(listed(page)).to_have_count(2)
    assert page.complaints == []


def test_a_reader_of_a_deleted_check_sees_that_it_was_deleted(live, visitor):
    """The check is deleted while another visitor follows it."""
    gate, mine, other = Gate("answer 2"), visitor(), visitor()
    address = live(scripted_container(gate=gate))
    check(mine, address, HAMLET)
    other.goto(mine.url)
    expect(other.locator("#hop-1 .chip")).to_have_text("Used")
    mine.goto(f"{mine.url}/delete")
    expect(mine.get_by_text("It is still running, and is stopped first.")).to_be_visible()
    mine.get_by_role("button", name="Delete it").click()
    expect(mine.get_by_text("Deleted.")).to_be_visible()
    expect(other.get_by_text("Its owner deleted this check.")).to_be_visible()
    gate.open()
