"""Downloading and importing a report in a real browser."""

from __future__ import annotations

import re

import pytest

from tests.e2e.test_browser import CLAIM, check, expect_verdict

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

HOSTILE = '<img src=x onerror="alert(1)">'


def test_a_downloaded_report_is_imported_and_marked_as_imported(live, visitor, tmp_path):
    """With the keyboard only; the page of the import shows the same hops and verdict below its banner."""
    page, address = visitor(), live()
    check(page, address)
    expect_verdict(page)
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Export").press("Enter")
        page.get_by_role("link", name="JSON", exact=True).press("Enter")
    file = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(file)
    assert file.name == "hopcheck-the-author-of-hamlet-was-born-in-england.json"

    page.get_by_role("link", name="Import a report").press("Enter")
    page.get_by_label("The file").set_input_files(file)
    page.get_by_role("button", name="Import").press("Enter")
    page.wait_for_url("**/runs/*")
    expect(page.get_by_text("Imported, unverified: this report was not made here")).to_be_visible()
    expect(page).to_have_title(re.compile("^Imported, unverified: True: "))
    expect_verdict(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(CLAIM)
    expect(page.locator("li.hop")).to_have_count(2)
    expect(page.locator("#hop-2 mark")).to_have_text("England")
    assert page.complaints == []

    page.goto(address)
    expect(page.locator(".recent li").first).to_contain_text("Imported, unverified")
