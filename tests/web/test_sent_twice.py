"""A form that is submitted twice, by a double click or after going back, starts one run."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from tests.web.conftest import started, wait_for

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


def test_sending_a_form_again_returns_its_run_and_a_changed_claim_starts_another(client):
    sent = fields(client.get("/").text)
    first = client.post("/runs", data={**sent, "claim": CLAIM}).location
    assert client.post("/runs", data={**sent, "claim": CLAIM}).location == first
    assert client.post("/runs", data={**sent, "claim": "Hamlet is a play."}).location != first


def test_the_same_claim_from_a_fresh_form_starts_another_run(client):
    assert started(client, CLAIM) != started(client, CLAIM)
    again = [client.post("/runs", data={**fields(client.get("/").text), "claim": CLAIM}).location for _ in range(2)]
    assert len(set(again)) == 2


def test_a_refused_form_comes_back_as_a_fresh_one(client):
    sent = fields(client.get("/").text)
    refused = client.post("/runs", data={**sent, "claim": "x"})
    assert refused.status_code == 422
    assert fields(refused.text)["form_name"] != sent["form_name"]


def test_a_branch_form_sent_twice_starts_one_run(client):
    path = started(client)
    wait_for(client, path, 'id="verdict-heading"')
    sent = {**fields(client.get(f"{path}/branch?hop=2").text), "question": "Where was he born?"}
    assert client.post(f"{path}/branch", data=sent).location == client.post(f"{path}/branch", data=sent).location
