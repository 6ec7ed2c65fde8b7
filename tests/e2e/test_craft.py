"""Colours, keyboard use, sharing and the module diagram in a real browser."""

from __future__ import annotations

import pytest

from tests.e2e.test_browser import CLAIM, check, expect_verdict
from tests.waiting import until

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

DARK, LIGHT = "rgb(21, 24, 27)", "rgb(247, 245, 240)"
"""Background colours."""


def expect_background(page, colour: str) -> None:
    expect(page.locator("body")).to_have_css("background-color", colour)


def test_the_colours_follow_the_system_until_others_are_chosen(live, visitor):
    """System, light, dark and system again; the choice is kept on other pages and after going back."""
    page = visitor(color_scheme="dark")
    address = live()
    page.goto(address)
    switch = page.get_by_role("button", name="Colours: system")
    expect_background(page, DARK)
    assert "theme" not in {cookie["name"] for cookie in page.context.cookies()}
    switch.press("Enter")
    expect(page.get_by_role("button", name="Colours: light")).to_be_visible()
    expect_background(page, LIGHT)
    page.goto(f"{address}/how-it-works")
    expect(page.get_by_role("button", name="Colours: light")).to_be_visible()
    expect_background(page, LIGHT)
    page.get_by_role("button", name="Colours: light").press("Space")
    expect_background(page, DARK)
    page.emulate_media(color_scheme="light")
    expect_background(page, DARK)
    page.go_back()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    expect_background(page, DARK)
    page.get_by_role("button", name="Colours: dark").click()
    expect_background(page, LIGHT)
    assert "theme" not in {cookie["name"] for cookie in page.context.cookies()}
    assert page.complaints == []


def test_the_server_renders_the_chosen_colours_without_script(live, visitor):
    """So a page never flashes in other colours. Cookie values other than our two are ignored."""
    address = live()
    for kept, wanted in (("dark", DARK), ("light", LIGHT), ("<script>", LIGHT)):
        page = visitor(java_script_enabled=False, color_scheme="light")
        page.context.add_cookies([{"name": "theme", "value": kept, "url": address}])
        page.goto(address)
        expect_background(page, wanted)
        expect(page.locator("#theme")).to_be_hidden()


def test_the_link_can_be_shared_where_there_is_a_share_sheet(live, visitor):
    """The share sheet gets the address and the title; closing it is no error. Without one there is no button."""
    page = visitor()
    address = live()
    page.add_init_script("delete Navigator.prototype.share")
    check(page, address)
    expect_verdict(page)
    page.get_by_role("button", name="Share").click()
    expect(page.locator("[data-share]")).to_be_hidden()
    page.add_init_script(
        "navigator.share = async (what) => { window.shared = what; throw new DOMException('', 'AbortError'); }"
    )
    page.reload()
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Share with an app").click()
    shared = until(lambda: page.evaluate("window.shared"), "what is shared")
    assert shared["url"] == page.url and CLAIM in shared["title"]
    assert page.complaints == []


def test_the_keyboard_reaches_every_control_and_the_focus_is_visible(live, visitor):
    page = visitor()
    check(page, live())
    expect_verdict(page)
    page.goto(page.url + "?cards=open")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.reload()
    wanted = page.evaluate(PRESSABLE)
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        if focused := page.evaluate(FOCUSED):
            reached.add(focused["at"])
            assert focused["outlined"], focused
    assert len(reached) == wanted > 15


PRESSABLE = """(() => {
  const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")];
  const seen = all.filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled);
  seen.forEach((each, at) => { each.dataset.at = at; });
  return seen.length;
})()"""

FOCUSED = """(() => {
  const at = document.activeElement;
  if (!at?.dataset.at) return null;
  return { at: at.dataset.at, what: at.outerHTML.slice(0, 80), outlined: getComputedStyle(at).outlineStyle !== "none" };
})()"""
