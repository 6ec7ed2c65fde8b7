"""From the home page to a run: hints, a text's claims and the marked text, by keyboard, by touch and without script."""

from __future__ import annotations

import re

import pytest

from app.capabilities.options import Choice
from app.domain.model import Page
from tests.e2e.test_accessibility import faults
from tests.e2e.test_browser import expect, expect_verdict, type_claim
from tests.fakes import AWAY, scripted_container
from tests.text_generators import playing

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
    expect(page.get_by_role("button", name="Check 2 claims")).to_be_visible()
    page.get_by_role("checkbox", name="Check sentence 4").press("Space")
    page.get_by_role("checkbox", name="Check sentence 2").press("Space")
    page.get_by_label("Claim 2", exact=True).fill("Hamlet was written in 1600.")
    page.get_by_role("button", name="Check 2 claims").press("Enter")
    page.wait_for_url("**/batches/*")
    page.get_by_role("heading", name="2 of 2 checked").wait_for()
    marked = page.locator(".marked")
    expect(marked).to_have_text(["Hamlet is a play. (True)", "It was written in 1600. (True)"])
    marked.nth(1).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Hamlet was written in 1600.")
    assert page.complaints == []


@pytest.mark.parametrize("script_on", [True, False], ids=["with script", "without script"])
def test_one_click_names_who_is_meant_and_one_splits_a_sentence_of_two_claims(live, visitor, script_on):
    """By the local model; on the narrowest phone, without a fault."""
    page = visitor(viewport={"width": 320, "height": 640}, java_script_enabled=script_on)
    model = playing("Hamlet was written in 1600.\nHamlet was printed in 1603.")
    type_claim(
        page, live(scripted_container(local_model=model)), "Hamlet is a play. It is long. It was written in 1600."
    )
    page.get_by_role("button", name="Check it").click()
    page.get_by_role("button", name="It → Hamlet in claim 2").click()
    expect(page.get_by_label("Claim 2", exact=True)).to_have_value("Hamlet is long.")
    expect(page.get_by_label("Claim 2", exact=True)).to_be_focused()
    expect(page.get_by_role("checkbox", name="Check sentence 2")).to_be_checked()
    rewrite = page.get_by_role("button", name="Rewrite claim 3")
    rewrite.focus()
    expect(rewrite).to_be_focused()
    rewrite.press("Enter")
    expect(page.get_by_label("Claim 3", exact=True)).to_have_value("Hamlet was written in 1600.")
    assert not script_on or faults(page) == {}
    page.get_by_role("button", name=re.compile("^Check (3|the ticked) claims")).click()
    expect(page.locator(".marked")).to_have_count(3)
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


def test_what_is_chosen_under_advanced_becomes_the_source(live, visitor):
    page = visitor()
    page.goto(live())
    source = page.get_by_label("Source", exact=True)
    expect(source).to_have_value("vital")
    page.locator("details.options > summary").press("Enter")
    page.get_by_label("Vital articles").uncheck()
    expect(source).to_have_value("")
    expect(source.locator("option:checked")).to_have_text("Chosen under Advanced: none chosen")


def test_nobody_gets_the_questions_of_a_check_that_searches_nothing(live, visitor):
    shelves = (Choice("vital", "Vital articles"), Choice("wikipedia-live", "Live", destination="wiki.example.org"))
    page = visitor()
    page.goto(live(scripted_container(shelves=shelves, language_models=(AWAY,))))
    sent = page.get_by_text("Your claim, its date and questions will be sent to wiki.example.org.")
    page.locator("details.options > summary").press("Enter")
    page.get_by_role("checkbox", name="Live").check()
    expect(sent).to_be_visible()
    page.get_by_label("Asked directly").check()
    expect(sent).to_be_hidden()
    page.get_by_label("Source", exact=True).select_option("Live")
    expect(sent).to_be_hidden()


def test_a_method_takes_the_answerer_or_the_source_of_its_own_and_gives_it_back(live, visitor):
    """A source that is chosen afterwards holds, and so does the one before if another method is chosen."""
    answerers = tuple(Choice(name, name) for name in ("retriever-reader", "reciter-reader", "web-search"))
    mixes = (Choice("local", "Local models"), Choice("qacheck", "As in QACheck", needs_model=True))
    pursuits = (Choice("papelo", "As Papelo", needs_model=True),)
    container = scripted_container(choices=answerers, mixes=mixes, pursuits=pursuits, language_models=(AWAY,))
    page = visitor()
    page.goto(live(container))
    source, reciter = page.get_by_label("Source", exact=True), page.get_by_label("reciter-reader")
    method = {name: page.locator(f"[name=recipe][value={name}]") for name in ("local", "qacheck", "papelo")}
    method["qacheck"].check()
    expect(source).to_have_value("")
    expect(reciter).to_be_checked()
    method["papelo"].check()
    expect(source).to_have_value("web")
    expect(reciter).not_to_be_checked()
    method["local"].check()
    expect(source).to_have_value("vital")
    method["qacheck"].check()
    source.select_option("vital")
    page.get_by_label("Your claim").fill("Hamlet is a play.")
    page.get_by_role("button", name="Check it").click()
    expect_verdict(page)
    assert container.asked_for[0].answerer == "retriever-reader"
    assert page.complaints == []
