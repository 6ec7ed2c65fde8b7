"""The ways in from other sites, and the ways out of a report, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Response

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
    """Also on a site whose content security policy allows no script; of a very long text it takes the beginning."""
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


def test_the_bookmarklet_can_be_copied(live, visitor):
    page = visitor()
    page.goto(f"{live()}/how-it-works")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the text").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#bookmarklet-text").text_content()
