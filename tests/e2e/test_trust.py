"""What a visitor trusts and takes along: scope, other sources, an own verdict, corrections and shortcuts."""

from __future__ import annotations

import re

import pytest

from app.domain.model import Label, Verdict
from tests.e2e.test_accessibility import faults
from tests.e2e.test_browser import CLAIM, check, expect_verdict, type_claim
from tests.e2e.test_report_page import FIVE_STEPS
from tests.fakes import TWO_HOPS, Script, scripted_container
from tests.web.test_corrections import FALSE
from tests.web.test_published_fact_checks import PUBLISHED
from tests.web.test_scope import EXTRACTS, LIVE

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

UNDECIDED = Script(TWO_HOPS.hops, Verdict(Label.NOT_ENOUGH_EVIDENCE, (), "Nothing was found about Hamlet."))


def test_an_undecided_report_says_what_was_searched_and_takes_the_readers_verdict_and_another_source(live, visitor):
    page = visitor()
    check(page, live(scripted_container(UNDECIDED, TWO_HOPS, shelves=(EXTRACTS, LIVE))))
    expect_verdict(page, "Can’t tell")
    expect(page.locator("#verdict")).to_contain_text("Only this was searched: the first lines of 12 articles.")
    page.keyboard.press("j")
    expect(page.locator("#hop-1")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator("#hop-1")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("?")
    page.locator("#note-0-open").click()
    page.get_by_role("radio", name="False", exact=True).check()
    page.locator("#note-0-text").fill("j / k")
    page.locator("#note-0").get_by_role("button", name="Save").click()
    expect(page.locator("#note-0-said")).to_contain_text("Your verdict: False")
    page.get_by_role("button", name="Share").click()
    expect(page.locator("#share-menu")).to_contain_text("This link works on this computer only.")
    page.keyboard.press("Escape")
    parent = page.url
    page.locator("#hop-2").get_by_role("button", name="Ask live Wikipedia").click()
    page.wait_for_url(lambda address: address != parent)
    expect_verdict(page)
    expect(page.locator(".basis")).to_contain_text("Wikipedia, live")
    page.get_by_role("link", name="Add a question", exact=True).click()
    expect(page.get_by_role("heading", name="Add a question")).to_be_visible()
    page.goto(page.url.split("/runs")[0] + "/history")
    page.get_by_label("Where you disagree").check()
    expect(page.locator("#found li")).to_have_count(1)
    page.locator("body").press("/")
    expect(page.locator("#q")).to_be_focused()
    assert page.complaints == []


def test_a_correction_is_taken_over_and_copied_from_the_text_of_a_batch(live, visitor):
    page = visitor(permissions=["clipboard-read", "clipboard-write"], viewport={"width": 390, "height": 800})
    address = live(scripted_container(FALSE))
    page.goto(address)
    page.get_by_role("link", name="Check many claims").first.wait_for()
    page.get_by_label("Your claim").fill("The Berlin Wall fell in 1991. Hamlet praised the Berlin Wall.")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Check 2 claims").click()
    page.get_by_role("heading", name=re.compile("2 of 2 checked")).wait_for()
    page.reload()
    page.locator("#fix-1").check()
    expect(page.locator("#corrected-text")).to_have_text(
        "The Berlin Wall fell in 1989. Hamlet praised the Berlin Wall."
    )
    page.get_by_role("button", name="Copy corrected text").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "in 1989." in page.evaluate("navigator.clipboard.readText()")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name=re.compile("False 2")).click()
    expect(page.locator("#batch-claims + ol > li")).to_have_count(2)
    assert page.complaints == []


def test_a_report_with_published_fact_checks_is_one_file_that_loads_nothing(live, visitor, tmp_path):
    page = visitor(viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    type_claim(page, live(scripted_container(look_up=lambda claim: (PUBLISHED,))), CLAIM)
    page.get_by_text("Advanced", exact=True).click()
    page.get_by_role("checkbox", name="Published fact-checks").check()
    page.get_by_role("button", name="Check it", exact=True).click()
    page.wait_for_url("**/runs/*")
    expect_verdict(page)
    expect(page.locator("#verdict .fact-checks")).to_contain_text(f"{PUBLISHED.publisher}")
    expect(page.locator("#verdict .fact-checks")).to_contain_text(PUBLISHED.published)
    assert faults(page) == {}
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="One HTML file").click()
    download.value.save_as(tmp_path / "report.html")
    file = visitor(java_script_enabled=False)
    file.goto(f"file://{tmp_path / 'report.html'}")
    expect(file.locator("body")).to_contain_text("Where was William Shakespeare born?")
    expect(file.locator("body")).to_contain_text(PUBLISHED.rating)
    assert [each[:5] for each in file.addresses] == ["file:"] and page.complaints == []


MAX_BYTES = 60_000


def test_every_page_is_at_most_60_kb_and_its_scripts_do_not_fail(live, visitor):
    page, address = visitor(), live(scripted_container(FIVE_STEPS), embed_on=("*",))
    for _ in range(2):
        check(page, address)
        expect_verdict(page)
    report = page.url
    places = ["", "/history", "/how-it-works", "/choices", "/batches", "/import", "/api", "/setup"]
    weighed = {place: weigh(page, f"{address}{place}") for place in places}
    weighed |= {part: weigh(page, report + part) for part in ("", "?cards=open", "/embed", "/branch?hop=1")}
    assert {place: size for place, size in weighed.items() if size > MAX_BYTES} == {}
    assert page.complaints == []


def weigh(page, address: str) -> int:
    """Return the bytes received for this page by a browser that has nothing of it."""
    session, received = page.context.new_cdp_session(page), []
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.goto(address, wait_until="networkidle")
    session.detach()
    assert len(received) >= 2
    return sum(received)
