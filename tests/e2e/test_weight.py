"""The bytes that a browser receives for a page with all its files, and what it loads at all."""

from __future__ import annotations

from tests.e2e.test_browser import check, expect_verdict
from tests.e2e.test_report_page import FIVE_STEPS
from tests.fakes import scripted_container

MAX_BYTES = 60_000


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


def test_every_page_is_at_most_60_kb(live, visitor):
    page, address = visitor(), live(scripted_container(FIVE_STEPS), embed_on=("*",))
    check(page, address)
    expect_verdict(page)
    report = page.url
    run = report.rsplit("/", 1)[1]
    check(page, address)
    expect_verdict(page)
    compared = f"/compare?run={run}&run={page.url.rsplit('/', 1)[1]}"
    page.goto(f"{address}/api")
    assert page.evaluate("document.documentElement.scrollHeight") < 7000, "its calls and schemas are folded"
    places = ("", "/history", "/how-it-works", "/choices", "/batches", "/import", "/api", compared)
    weighed = {place: weigh(page, f"{address}{place}") for place in places}
    weighed |= {part: weigh(page, report + part) for part in ("", "?cards=open", "/embed", "/branch?hop=1")}
    assert {place: size for place, size in weighed.items() if size > MAX_BYTES} == {}
