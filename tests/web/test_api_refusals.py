"""What the API refuses: one table of requests for each state of a run."""

from __future__ import annotations

import pytest

from app.web.api.blueprint import API
from tests.fakes import FAILING, scripted_container
from tests.waiting import LONG
from tests.web.conftest import started, token
from tests.web.test_api import CLAIM, ended, problem, start

RUNNING = [
    ("POST", "branch", {"hop": 1}, 409),
    ("POST", "conclude", {}, 409),
    ("POST", "publish", {}, 409),
    ("PUT", "notes/1", {"agrees": True}, 409),
    ("PUT", "notes/two", {"agrees": True}, 409),
    ("GET", "export.md", None, 409),
    ("GET", "export.ris", None, 409),
    ("GET", "claimreview.json", None, 409),
]
WITH_A_VERDICT = [
    ("PUT", "notes/7", {"agrees": True}, 404),
    ("DELETE", "notes/two", None, 404),
    ("PUT", "notes/1", {"text": "x" * 2001}, 422),
    ("PUT", "notes/1", {"hop": 1, "agrees": True}, 422),
    ("POST", "branch", {"hop": 7}, 422),
    ("POST", "branch", {"hop": True}, 422),
    ("POST", "branch", {"hop": 10**4000}, 422),
    ("POST", "branch", {"hop": 2, "question": " "}, 422),
    ("POST", "branch", {"hop": 2, "answerer": "flan-t5"}, 422),
    ("POST", "branch", {"hop": 2, "question": "Who?", "leave_out": True}, 422),
    ("POST", "stop", {"hop": 1}, 422),
    ("POST", "conclude", {}, 409),
]
WITHOUT_A_VERDICT = [("GET", "claimreview.json", None, 409), ("POST", "publish", {}, 409)]


@pytest.mark.parametrize(("method", "path", "body", "code"), RUNNING)
def test_a_run_without_an_answer_refuses(gated, method, path, body, code):
    client, gate = gated("answer 1", publishing=True)
    address = start(client)
    assert gate.reached.wait(LONG)
    problem(client.open(f"{address}/{path}", method=method, json=body), code)


def test_its_page_refuses_the_same(gated):
    client, gate = gated("answer 1", publishing=True)
    path = started(client)
    assert gate.reached.wait(LONG)
    for button in ("conclude", "publish", "branch", "notes"):
        sent = {"csrf_token": token(client), "hop": "1", "question": "Who?", "text": "Mine.", "seen": ""}
        assert client.post(f"{path}/{button}", data=sent).status_code == 409, button
    for file in ("export.md", "export.ris", "claimreview.json"):
        assert client.get(f"{path}/{file}").status_code == 409, file


@pytest.mark.parametrize(
    ("container", "requests"),
    [(scripted_container, WITH_A_VERDICT), (lambda: scripted_container(FAILING), WITHOUT_A_VERDICT)],
)
def test_an_ended_run_refuses(make_app, container, requests):
    client = make_app(container(), publishing=True).test_client()
    address = start(client)
    before = ended(client, address)
    for method, path, body, code in requests:
        problem(client.open(f"{address}/{path}", method=method, json=body), code)
    assert client.get(address).json == before


def test_publishing_needs_the_operators_permission(make_app):
    client = make_app().test_client()
    address = start(client)
    ended(client, address)
    problem(client.get(f"{API}/gallery"), 404)
    problem(client.post(f"{address}/publish", json={}), 404)


@pytest.mark.parametrize("query", ["gallery?label=MAYBE", "gallery?limit=0", "runs?limit=0"])
def test_a_list_refuses_an_invalid_query(make_app, query):
    problem(make_app(publishing=True).test_client().get(f"{API}/{query}"), 422)


def test_a_batch_refuses_what_its_state_forbids_and_a_cursor_that_is_no_number(gated):
    client, _ = gated("question 1")
    path = client.post(f"{API}/batches", json={"claims": [CLAIM]}).headers["Location"]
    problem(client.get(f"{path}/results?after=x"), 422)
    assert client.post(f"{path}/cancel", json={}).json["state"] == "cancelled"
    problem(client.post(f"{path}/cancel", json={}), 409)
    assert client.delete(path).status_code == 204
    problem(client.delete(path), 404)
    assert client.post(f"{path}/restore", json={}).json["state"] == "cancelled"
