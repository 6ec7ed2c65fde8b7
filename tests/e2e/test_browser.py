"""Checking claims in a real browser: each test is one visit."""

from __future__ import annotations

import re
from threading import Semaphore
from urllib.parse import urlsplit

import pytest

from app.capabilities.options import Choice
from app.domain.errors import CallFailed
from app.web.forms import EXAMPLES
from tests.fakes import AWAY, SUPPORTED, TWO_HOPS, Gate, Script, ScriptedHop, scripted_container
from tests.waiting import LONG

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
    expect(page).to_have_title(re.compile("^Supported: "))
    assert len([each for each in page.addresses if re.search(r"/runs/[\w-]+$", each)]) == loads
    assert page.complaints == []


def test_a_typed_claim_is_counted_checked_and_listed(live, visitor):
    """The box has the focus, the counter counts what the server counts, Shift+Enter adds a line and Enter sends."""
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
    expect(page.get_by_role("link", name=CLAIM)).to_contain_text("Supported")


def test_a_too_long_claim_comes_back_with_the_reason(live, visitor):
    """The form returns with what was typed and the reason by the field."""
    page = visitor()
    page.goto(live())
    page.get_by_label("Your claim").fill("x" * 501)
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("alert")).to_have_text("The claim has 501 characters; at most 500 are allowed.")
    expect(page.get_by_label("Your claim")).to_have_value("x" * 501)


def test_a_reload_during_a_run_shows_its_state_and_keeps_following(live, visitor):
    gate, page = Gate("answer 2"), visitor()
    check(page, live(scripted_container(gate=gate)))
    expect(page.locator("#hop-2 h3")).to_have_text("Where was William Shakespeare born?")
    page.reload()
    expect(page.locator("#hop-1 mark")).to_have_text("William Shakespeare")
    expect(page.locator("#hop-2 .chip")).to_have_text("In progress")
    gate.open()
    expect_verdict(page)
    expect(page.locator("li.hop")).to_have_count(2)
    assert page.complaints == []


def test_closing_the_tab_does_not_stop_the_run(live, visitor):
    gate, page = Gate("answer 2"), visitor()
    check(page, live(scripted_container(gate=gate)))
    assert gate.reached.wait(LONG)
    link = page.url
    page.close()
    gate.open()
    later = visitor()
    later.goto(link)
    expect_verdict(later)


def test_the_permalink_works_in_another_browser(live, visitor):
    """The second visitor sees the run, but not in the list of that browser's own runs."""
    page, other = visitor(), visitor()
    address = live()
    check(page, address)
    expect_verdict(page)
    link = page.locator("#permalink").get_attribute("href")
    other.goto(address + link)
    expect_verdict(other)
    expect(other.get_by_role("heading", level=1)).to_have_text(CLAIM)
    other.goto(address)
    expect(other.get_by_text("Your last checks")).to_have_count(0)


def test_two_visitors_at_once_do_not_affect_each_other(live, visitor):
    """Both runs go on at the same time; each page shows its own hops."""
    other_script = Script((ScriptedHop("Who painted Guernica?"),), SUPPORTED)
    gate = Gate("answer 1")
    address = live(scripted_container(TWO_HOPS, other_script, gate=gate))
    page, other = visitor(), visitor()
    type_claim(page, address, CLAIM)
    type_claim(other, address, "Picasso painted Guernica.")
    send(page)
    expect(page.locator("#hop-1 h3")).to_have_text("Who wrote Hamlet?")
    send(other)
    expect(other.locator("#hop-1 h3")).to_have_text("Who painted Guernica?")
    gate.open()
    expect_verdict(page)
    expect_verdict(other)
    expect(page.locator("li.hop")).to_have_count(2)
    expect(other.locator("li.hop")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_text(CLAIM)


def test_a_script_in_a_claim_is_shown_as_text(live, visitor):
    page = visitor()
    claim = "<img src=x onerror=alert(1)><script>alert(2)</script> is safe."
    check(page, live(), claim)
    expect_verdict(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(claim)
    assert page.complaints == []


def test_no_request_leaves_the_site(live, visitor):
    page = visitor()
    address = live()
    check(page, address)
    expect_verdict(page)
    page.goto(address)
    assert {urlsplit(each).netloc for each in page.addresses} == {urlsplit(address).netloc}
    assert page.complaints == []


def test_without_javascript_the_page_refreshes_itself_to_the_verdict(live, visitor):
    gate, page = Gate("answer 2"), visitor(java_script_enabled=False)
    page.goto(live(scripted_container(gate=gate)))
    page.get_by_role("button", name=EXAMPLES[0].claim).click()
    expect(page.locator("#hop-2 h3")).to_have_text("Where was William Shakespeare born?")
    gate.open()
    expect_verdict(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(EXAMPLES[0].claim)


def test_a_failed_hop_is_shown_as_failed(live, visitor):
    """The failure has its reason; the run goes on to its verdict."""
    script = Script((ScriptedHop("Who?", CallFailed("The reader took too long.")), *TWO_HOPS.hops), SUPPORTED)
    page = visitor()
    check(page, live(scripted_container(script, delay=0.1)))
    expect(page.locator("#hop-1 .chip")).to_have_text("Failed")
    expect(page.locator("#hop-1 .reason")).to_have_text("The answerer failed: The reader took too long.")
    expect_verdict(page)


def test_a_page_without_a_stream_slot_still_shows_the_verdict(live, visitor):
    """With a single slot the second page has no stream and refreshes itself."""
    gate = Gate("answer 2")
    first, second = visitor(), visitor()
    check(first, live(scripted_container(gate=gate), threads=1))
    expect(first.locator("#hop-2 h3")).to_be_visible()
    live.wait_for_follower()
    second.goto(first.url)
    expect(second.locator("[sse-connect]")).to_have_count(0)
    gate.open()
    expect_verdict(first)
    expect_verdict(second)


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


def test_visitors_in_the_queue_see_their_position_move_up(live, visitor):
    """One run at a time: the third waits behind the second, moves up, and gets its turn, all without a reload."""
    turns, container = Semaphore(0), scripted_container()
    container.before_step = lambda step: step != "answer 1" or turns.acquire(timeout=LONG)
    pages = [visitor() for _ in range(3)]
    address = live(container, workers=1)
    for page in pages:
        check(page, address)
    expect(pages[1].get_by_role("status")).to_contain_text("Next in line")
    expect(pages[2].get_by_role("status")).to_contain_text("2nd in line")
    turns.release()
    expect(pages[2].get_by_role("status")).to_contain_text("Next in line")
    turns.release(2)
    expect_verdict(pages[2])
    assert pages[2].complaints == []


def test_a_run_refused_by_a_full_queue_can_be_sent_again(live, visitor):
    gate, first, second = Gate("answer 1"), visitor(), visitor()
    address = live(scripted_container(gate=gate), workers=1, max_waiting=0)
    check(first, address)
    assert gate.reached.wait(LONG)
    type_claim(second, address, "Another claim.")
    second.get_by_role("button", name="Check it").click()
    expect(second.get_by_text("Too many checks wait for their turn already.")).to_be_visible()
    expect(second.get_by_label("Your claim")).to_have_value("Another claim.")
    gate.open()
    expect_verdict(first)
    second.get_by_role("button", name="Check it").click()
    expect_verdict(second)


def test_choices_are_folded_and_say_who_receives_the_claim(live, visitor):
    """Only the choice of a remote model shows the line by the button, which names the host."""
    page, near = visitor(), Choice("near", "A model here")
    page.goto(live(scripted_container(language_models=(near, AWAY))))
    line = page.get_by_text("Your claim, questions and evidence will be sent to api.example.org.")
    expect(page.get_by_label("Prompted")).to_be_hidden()
    expect(line).to_be_hidden()
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Prompted").check()
    expect(line).to_be_hidden()
    page.get_by_label("A big model").check()
    expect(line).to_be_visible()
    page.get_by_label("A model here").check()
    expect(line).to_be_hidden()
    page.get_by_label("Your claim").fill(CLAIM)
    send(page)
    expect_verdict(page)
    expect(page.locator(".work")).to_contain_text("near")
    assert page.complaints == []


def test_without_javascript_the_page_says_when_a_claim_would_be_sent_elsewhere(live, visitor):
    page = visitor(java_script_enabled=False)
    page.goto(live(scripted_container(language_models=(AWAY,))))
    expect(page.get_by_text("When A big model is asked: Your claim, questions and evidence")).to_be_visible()
