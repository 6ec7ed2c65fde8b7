"""In a real browser no text of users, models or web pages is executed, and pages of other sites get no access."""

from __future__ import annotations

import pytest

from tests.fakes import Gate, scripted_container
from tests.web.hostile import hostile_container, marked
from tests.web_server import Sent, WebServer


def test_a_run_full_of_scripts_opens_no_dialog_and_loads_nothing(live, visitor):
    site = live(hostile_container())
    page = visitor()
    page.goto(site)
    page.fill("textarea[name=claim]", marked("claim"))
    page.locator(".claim-form button.primary").first.click()
    page.wait_for_selector("#verdict-heading")
    for details in page.locator("details > summary").all():
        if details.is_visible():
            details.click()
    for address in (page.url, f"{site}/history", site):
        page.goto(address)
        assert "<script>alert(1)" in page.locator("main").inner_text()
    assert page.complaints == []
    assert all(each.startswith(site) for each in page.addresses)


ATTEMPTS = """async (run) => {
  const results = {};
  const attempt = async (name, work) => { results[name] = await work().catch(() => "refused"); };
  const read = (options) => async () => (await fetch(run, options)).text();
  await attempt("stream", () => new Promise((done, fail) => {
    const stream = new EventSource(`${run}/events`, {withCredentials: true});
    stream.onopen = () => { stream.close(); done("open"); };
    stream.onerror = () => { stream.close(); fail(); };
  }));
  await attempt("page", read({credentials: "include"}));
  await attempt("opaque", read({credentials: "include", mode: "no-cors"}));
  await attempt("form", async () => {
    const body = new URLSearchParams({csrf_token: "made up"});
    return (await fetch(`${run}/stop`, {method: "POST", mode: "no-cors", credentials: "include", body})).type;
  });
  await attempt("json", async () => {
    const headers = {"Content-Type": "application/json"};
    const stop = run.replace("/runs/", "/api/v1/runs/") + "/stop";
    return (await fetch(stop, {method: "POST", credentials: "include", headers, body: "{}"})).type;
  });
  const frame = document.createElement("iframe");
  frame.src = run;
  await new Promise((done) => { frame.onload = done; document.body.append(frame); });
  return results;
}"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_cannot_follow_read_frame_or_stop_a_run(live, visitor, host):
    """Another port is another origin of the same site, which gets the cookie as well; another name is another site."""
    gate, page = Gate("answer 2"), visitor()
    page.goto(live(scripted_container(gate=gate)))
    page.fill("textarea[name=claim]", "A claim of mine alone.")
    page.locator(".claim-form button.primary").first.click()
    page.wait_for_url("**/runs/*")
    run = page.url
    with WebServer({"/": Sent(b"<!doctype html><title>Elsewhere</title><body>")}) as elsewhere:
        page.goto(elsewhere.url("/", host))
        assert page.evaluate(ATTEMPTS, run) == dict.fromkeys(("stream", "page", "opaque", "form", "json"), "refused")
        assert len(page.frames) == 2 and page.frames[1].url in ("", "chrome-error://chromewebdata/")
    page.goto(run)
    page.get_by_role("button", name="Stop").wait_for()
    gate.open()
    page.wait_for_selector("#verdict-heading")
