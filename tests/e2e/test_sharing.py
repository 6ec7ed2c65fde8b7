"""The ways in from other sites, and the ways out of a report, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Response

from tests.e2e.test_browser import CLAIM, check, expect_verdict

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

STRICT = {"Content-Security-Policy": "default-src 'none'; style-src 'none'; script-src 'none'"}


@contextmanager
def other_site(page: str, **headers: str) -> Iterator[str]:
    """Serve this page on an address of its own, with these headers."""
    server = make_server("127.0.0.1", 0, Response(page, mimetype="text/html", headers=headers), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()


SELECT = "getSelection().selectAllChildren(document.querySelector('p'))"


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [("“Hamlet” & more: 100 % of it is “true” in 北京 🌍.", True), ("wörter und Wörter " * 400, False)],
    ids=["signs", "long"],
)
def test_the_bookmarklet_opens_the_form_with_the_text_selected_on_another_site(live, visitor, text, is_whole):
    page, address = visitor(), live()
    page.goto(f"{address}/how-it-works")
    link = page.get_by_role("link", name="Check the selected text")
    code = link.get_attribute("href")
    assert code.startswith("javascript:") and page.locator("#bookmarklet-text").text_content() == code
    link.click()
    assert page.complaints == [] and page.url == f"{address}/how-it-works"
    with other_site(f"<p>{text}</p>", **STRICT) as elsewhere:
        page.goto(elsewhere)
        page.evaluate(SELECT)
        with page.expect_popup() as opened:
            page.evaluate(code.removeprefix("javascript:"))
        box = opened.value.get_by_label("Your claim")
        expect(box).not_to_have_value("")
        filled = box.input_value()
    assert text.strip().startswith(filled.strip())
    assert filled == text if is_whole else 3400 < len(opened.value.url) < 3600


def report(page, address: str) -> str:
    """Check a claim to its end and return the address of the report."""
    check(page, address)
    expect_verdict(page)
    return page.url


def test_the_share_menu_copies_the_link_and_a_summary_with_the_sentence(live, visitor):
    page = visitor()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    url = report(page, live())
    page.get_by_role("button", name="Share", exact=True).click()
    menu = page.get_by_role("group", name="Share")
    menu.get_by_role("button", name="Copy link").click()
    expect(menu.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == url
    menu.get_by_role("button", name="Copy summary").click()
    expect(menu.get_by_role("button", name="Copied")).to_have_count(2)
    assert page.evaluate("navigator.clipboard.readText()").splitlines() == [
        f"“{CLAIM}”",
        "True (Supported). Hamlet was written by William Shakespeare.",
        "“Hamlet is a play by William Shakespeare.” Hamlet, https://en.wikipedia.org/wiki/Hamlet",
        f"Checked by a machine with Hopcheck: {url}",
    ]
    expect(menu.get_by_role("heading", name="Embed")).to_have_count(0)
    assert page.complaints == []


def test_save_as_pdf_opens_the_print_window_with_the_menu_closed(live, visitor):
    page = visitor()
    page.add_init_script("window.print = () => { window.printed = !document.querySelector(':popover-open'); }")
    report(page, live())
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Save as PDF").click()
    assert page.evaluate("window.printed") is True


def test_without_script_the_share_menu_shows_what_can_be_copied_by_hand(live, visitor):
    address = live(embed_on=("*",))
    url = report(visitor(), address)
    page = visitor(java_script_enabled=False)
    page.goto(url)
    page.get_by_role("button", name="Share", exact=True).click()
    menu = page.get_by_role("group", name="Share")
    expect(menu.get_by_text("Hamlet was written by William Shakespeare.")).to_be_visible()
    expect(menu.get_by_text("Print this page")).to_be_visible()
    expect(menu.get_by_text("<iframe")).to_be_visible()
    expect(menu.get_by_role("button")).to_have_count(0)


def test_the_copied_snippet_shows_the_report_on_an_allowed_site_and_nowhere_else(live, visitor):
    with other_site("") as friend, other_site("") as stranger:
        page = visitor()
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        url = report(page, live(embed_on=(friend,)))
        page.get_by_role("button", name="Share", exact=True).click()
        page.get_by_role("button", name="Copy the HTML").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        snippet = page.evaluate("navigator.clipboard.readText()")
        page.goto(friend)
        page.evaluate("(html) => { document.body.innerHTML = html; }", snippet)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("heading", level=1)).to_have_text(CLAIM)
        expect(frame.get_by_role("heading", level=2)).to_contain_text("True")
        expect(frame.locator("blockquote").first).to_contain_text("Hamlet is a play by William Shakespeare.")
        assert page.complaints == []
        with page.expect_popup() as opened:
            frame.get_by_role("link", name="Read every step").click()
        assert opened.value.url == url
        page.goto(stranger)
        with page.expect_event("requestfailed") as refused:
            page.evaluate("(html) => { document.body.innerHTML = html; }", snippet)
        assert refused.value.url == f"{url}/embed" and "BLOCKED_BY_RESPONSE" in refused.value.failure
        expect(frame.get_by_role("heading", level=1)).to_have_count(0)
