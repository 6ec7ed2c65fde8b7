"""From the home page to a run: hints, a text's claims and the marked text, by keyboard, by touch and without script."""

from __future__ import annotations

import pytest

from app.capabilities.options import Choice
from app.domain.model import Page
from tests.e2e.test_browser import CLAIM, expect, expect_verdict, type_claim
from tests.fakes import FAILING, TWO_HOPS, scripted_container

TEXT = "Hamlet is a play. It was written in 1600. Is it good?\n\nKing Lear is a novel."
LINK = "https://news.example/hamlet"
PAGE = Page(LINK, "News of Hamlet", "news.example", "Hamlet is a play.\nBacon wrote Hamlet.")


def test_a_hint_keeps_the_claim_and_offers_a_way_on_by_keyboard(live, visitor):
    page = visitor()
    type_claim(page, live(), "Is Paris the capital of France?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This is a question.")
    expect(page.get_by_label("Your claim")).to_have_value("Is Paris the capital of France?")
    expect(page.get_by_label("Your claim")).to_be_focused()
    page.get_by_role("button", name="Check it as it is").press("Enter")
    expect_verdict(page)
    assert page.complaints == []


def test_the_claims_of_a_text_are_ticked_edited_and_checked_by_keyboard(live, visitor):
    page = visitor()
    type_claim(page, live(), TEXT)
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", name="Check sentence 3")).not_to_be_checked()
    expect(page.get_by_role("button", name="Check 3 claims")).to_be_visible()
    page.get_by_role("checkbox", name="Check sentence 4").press("Space")
    page.get_by_label("Claim 2").fill("Hamlet was written in 1600.")
    page.get_by_role("button", name="Check 2 claims").press("Enter")
    page.wait_for_url("**/batches/*")
    page.get_by_role("heading", name="2 of 2 checked").wait_for()
    marked = page.locator(".marked")
    expect(marked).to_have_text(["Hamlet is a play. (Supported)", "It was written in 1600. (Supported)"])
    marked.nth(1).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Hamlet was written in 1600.")
    assert page.complaints == []


def test_no_claim_can_be_sent_while_none_is_ticked(live, visitor):
    page = visitor()
    type_claim(page, live(), "Hamlet is a play. King Lear is a novel.")
    page.keyboard.press("Enter")
    for number in (1, 2):
        page.get_by_role("checkbox", name=f"Check sentence {number}").uncheck()
    expect(page.get_by_role("button", name="Check 0 claims")).to_be_disabled()


def test_without_javascript_a_link_leads_to_claims_and_to_the_marked_text(live, visitor):
    page = visitor(java_script_enabled=False)
    type_claim(page, live(scripted_container(pages={LINK: PAGE})), LINK)
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("link", name="News of Hamlet")).to_have_attribute("href", LINK)
    page.get_by_role("button", name="Check the ticked claims").click()
    expect(page.locator(".marked")).to_have_count(2)
    expect(page.get_by_role("link", name="News of Hamlet")).to_be_visible()


def test_what_is_chosen_under_the_options_becomes_the_source(live, visitor):
    page = visitor()
    page.goto(live())
    source = page.get_by_label("Source", exact=True)
    expect(source).to_have_value("vital")
    page.locator("details.options > summary").press("Enter")
    page.get_by_label("Vital articles").uncheck()
    expect(source).to_have_value("")
    expect(source.locator("option:checked")).to_have_text("Own choice: none chosen")


def test_choosing_the_web_shows_who_gets_the_claim(live, visitor):
    answerers = (Choice("retriever-reader", "Retriever and reader"), Choice("web-search", "Web search"))
    page = visitor()
    page.goto(live(scripted_container(choices=answerers)))
    sent = page.get_by_text("Your claim and questions will be sent to search.example.org.")
    expect(sent).to_be_hidden()
    page.get_by_label("Source", exact=True).select_option("The web")
    expect(sent).to_be_visible()


def small_targets(page) -> list[str]:
    """Controls of the page less than 24 CSS pixels high or wide, except links inside a sentence."""
    return page.evaluate(
        """() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
        .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.classList.contains("skip"))
        .filter((each) => each.tagName !== "A" || !each.closest("p, .marked-text")
          || getComputedStyle(each).display !== "inline")
        .map((each) => [each, (each.closest("label") ?? each).getBoundingClientRect()])
        .filter(([, box]) => box.height < 24 || box.width < 24)
        .map(([each, box]) => `${each.outerHTML.slice(0, 90)} ${box.width}x${box.height}`)"""
    )


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_targets_have_24_pixels_and_nothing_is_wider_than_the_window(live, visitor, width):
    page = visitor(viewport={"width": width, "height": 800})
    address = live(scripted_container(TWO_HOPS, FAILING))
    type_claim(page, address, CLAIM)
    page.keyboard.press("Enter")
    expect_verdict(page)
    found = {}
    page.goto(address)
    page.locator("details.options > summary").click()
    found["home"] = small_targets(page), page.evaluate("document.documentElement.scrollWidth")
    page.goto(f"{address}/choices")
    found["choices"] = small_targets(page), page.evaluate("document.documentElement.scrollWidth")
    type_claim(page, address, TEXT)
    page.keyboard.press("Enter")
    page.locator(".candidates").wait_for()
    found["claims"] = small_targets(page), page.evaluate("document.documentElement.scrollWidth")
    page.get_by_role("button", name="Check 3 claims").click()
    page.get_by_role("heading", name="3 of 3 checked").wait_for()
    found["batch"] = small_targets(page), page.evaluate("document.documentElement.scrollWidth")
    assert found == dict.fromkeys(found, ([], width))


def test_the_check_of_targets_finds_a_small_button(visitor):
    page = visitor()
    page.set_content('<button style="width: 20px; height: 30px; padding: 0">x</button><p>A <a href="/">link</a></p>')
    assert len(small_targets(page)) == 1
