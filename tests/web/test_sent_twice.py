"""A form that is submitted twice, by a double click or after going back, starts one run."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from tests.web.conftest import wait_for

CLAIM = "Hamlet's author was born in England."


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of a form."""
    return dict(re.findall(r'<input type="hidden" name="(csrf_token|form_name|hop)" value="([^"]+)"', page))


def test_a_double_click_starts_one_run(client):
    sent = {**fields(client.get("/").text), "claim": CLAIM}
    assert set(sent) == {"csrf_token", "form_name", "claim"}
    cookie = client.get_cookie("hopcheck").value

    def click(_):
        other = client.application.test_client()
        other.set_cookie("hopcheck", cookie)
        return other.post("/runs", data=sent).location

    with ThreadPoolExecutor(3) as pool:
        places = set(pool.map(click, range(3)))
    assert len(places) == 1
    wait_for(client, places.pop(), 'id="verdict-heading"')
    assert len(client.get("/api/v1/runs").json["runs"]) == 1


def test_a_refused_form_comes_back_as_a_fresh_one(client):
    sent = fields(client.get("/").text)
    refused = client.post("/runs", data={**sent, "claim": "x"})
    assert refused.status_code == 422
    assert fields(refused.text)["form_name"] != sent["form_name"]
