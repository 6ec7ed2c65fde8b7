"""Checking claims in a real browser: each test is one visit."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from app.capabilities.options import Choice
from app.web.forms import EXAMPLES
from tests.fakes import AWAY, SUPPORTED, TWO_HOPS, Gate, Script, scripted_container

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

CLAIM = "The author of Hamlet was born in England."


def check(page, address: str, claim: str = CLAIM) -> None:
    """Type a claim and send it with the keyboard."""
    type_claim(page, address, claim)
    send(page)


def type_claim(page, address: str, claim: str) -> None:
    page.goto(address)
    page.get_by_label("Your claim").fill(claim)


def send(page) -> None:
    """Send the claim with the keyboard, and once more where it gets a hint."""
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile("/runs"))
    if urlsplit(page.url).path == "/runs":
        page.get_by_role("button", name="Check it as it is").click()
    page.wait_for_url("**/runs/*")


def expect_verdict(page, word: str = "Supported") -> None:
    expect(page.get_by_role("heading", level=2, name=word)).to_be_visible()


def test_a_sample_runs_to_its_verdict_without_a_reload(live, visitor):
    """A sample's button starts its claim; hops come one after the other without a reload, then the verdict."""
    gate, page = Gate("question 2"), visitor()
    address = live(scripted_container(gate=gate))
    page.goto(address)
    page.get_by_role("button", name=EXAMPLES[0].claim).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(EXAMPLES[0].claim)
    expect(page.locator("#hop-1 .chip")).to_have_text("Used")
    expect(page.locator("#hop-2 h3")).to_have_count(0)
    loads = len([each for each in page.addresses if re.search(r"/runs/[\w-]+$", each)])
    gate.open()
    expect_verdict(page)
    expect(page.locator("li.hop")).to_have_count(2)
    expect(page.locator("#hop-2 mark")).to_have_text("England")
    expect(page).to_have_title(re.compile("^True: "))
    assert len([each for each in page.addresses if re.search(r"/runs/[\w-]+$", each)]) == loads
    assert page.complaints == []


def test_a_typed_claim_is_counted_checked_and_listed(live, visitor):
    page = visitor()
    address = live()
    page.goto(address)
    page.get_by_label("Your claim").fill("  🌍🌍🌍  ")
    expect(page.get_by_text("3 of 500 characters")).to_be_visible()
    page.goto(address)
    expect(page.get_by_label("Your claim")).to_be_focused()
    page.keyboard.type("The author of Hamlet")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("was born in England.")
    expect(page.get_by_label("Your claim")).to_have_value("The author of Hamlet\nwas born in England.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*")
    expect_verdict(page)
    page.locator(".rationale").get_by_role("link", name="step 2", exact=True).click()
    expect(page).to_have_url(re.compile("#hop-2$"))
    page.get_by_role("link", name="New check").click()
    expect(page.get_by_role("link", name=CLAIM)).to_contain_text("True")


def test_without_javascript_the_page_refreshes_itself_to_the_verdict(live, visitor):
    gate, page = Gate("answer 2"), visitor(java_script_enabled=False)
    page.goto(live(scripted_container(gate=gate)))
    page.get_by_role("button", name=EXAMPLES[0].claim).click()
    expect(page.locator("#hop-2 h3")).to_have_text("Where was William Shakespeare born?")
    gate.open()
    expect_verdict(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(EXAMPLES[0].claim)


def test_a_page_that_refreshes_itself_keeps_its_scroll_position(live, visitor):
    """Without a stream slot and without script the page is loaded again and again."""
    gate = Gate("answer 3")
    three = Script((*TWO_HOPS.hops[:1] * 2, TWO_HOPS.hops[1]), SUPPORTED)
    first, second = visitor(), visitor(viewport={"width": 400, "height": 400}, java_script_enabled=False)
    check(first, live(scripted_container(three, gate=gate), threads=1))
    expect(first.locator("#hop-3")).to_be_visible()
    live.wait_for_follower()
    second.goto(first.url)
    second.mouse.wheel(0, 300)
    second.wait_for_function("scrollY === 300")
    with second.expect_navigation():
        pass
    second.wait_for_function("scrollY === 300")
    gate.open()
    expect_verdict(second)


def test_a_stream_slot_is_released_soon_after_its_tab_is_closed(live, visitor):
    """The only slot passes to the second page within a few seconds, even while the run sends no events."""
    gate, first, second = Gate("answer 2"), visitor(), visitor()
    check(first, live(scripted_container(gate=gate), threads=1))
    expect(first.locator("#hop-2 h3")).to_be_visible()
    live.wait_for_follower()
    second.goto(first.url)
    expect(second.locator("[sse-connect]")).to_have_count(0)
    first.close()
    expect(second.locator("[sse-connect]")).to_have_count(1)
    gate.open()
    expect_verdict(second)


def test_choices_are_folded_and_say_who_receives_the_claim(live, visitor):
    """Only the choice of a remote model shows the line by the button, which names the host."""
    page, near = visitor(), Choice("near", "A model here")
    page.goto(live(scripted_container(language_models=(near, AWAY))))
    line = page.get_by_text("Your claim, questions and evidence will be sent to api.example.org.")
    expect(page.get_by_label("Prompted")).to_be_hidden()
    expect(line).to_be_hidden()
    model = page.get_by_label("Language model", exact=True)
    expect(model).to_be_hidden()
    page.locator("[name=recipe][value=language-model]").check()
    expect(line).to_be_hidden()
    model.select_option("big")
    expect(line).to_be_visible()
    page.locator("[name=recipe][value=local]").check()
    expect(line).to_be_hidden()
    page.get_by_text("Advanced", exact=True).click()
    page.get_by_label("One question at a time").check()
    page.get_by_label("Prompted").check()
    expect(line).to_be_visible()
    model.select_option("near")
    expect(line).to_be_hidden()
    page.get_by_label("Your claim").fill(CLAIM)
    send(page)
    expect_verdict(page)
    expect(page.locator(".work")).to_contain_text("near")
    assert page.complaints == []
