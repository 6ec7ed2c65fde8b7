"""Branching by the JSON API, as by the form of the page, and its errors."""

from __future__ import annotations

import pytest

from app.capabilities.options import Choice
from tests.fakes import SUPPORTED, TWO_HOPS, Gate, Script, ScriptedHop, answer, scripted_container
from tests.waiting import LONG
from tests.web.conftest import token
from tests.web.test_api import ended, held_to, problem, start, with_tokens

ONE_MORE = Script((ScriptedHop("Which land is that?", answer("England")),), SUPPORTED)
ANSWERERS = (
    Choice("retriever-reader", "Retriever and reader"),
    Choice("reciter-reader", "Reciter and reader"),
    Choice("flan-t5", "FLAN-T5", False, "FLAN-T5 is not installed."),
)


def container():
    """Return a container whose first run has two kept hops; each later run finds one more."""
    return scripted_container(TWO_HOPS, ONE_MORE, choices=ANSWERERS)


@pytest.fixture
def client(make_app):
    return make_app(container()).test_client()


@pytest.fixture
def address(client) -> str:
    """The address of a finished run."""
    found = start(client)
    ended(client, found)
    return found


def branched(client, address: str, **fields) -> dict:
    """Branch a run and return the new run once it has ended."""
    sent = client.post(f"{address}/branch", json=fields)
    assert sent.status_code == 201, sent.text
    held_to("Run", sent.json)
    return ended(client, sent.headers["Location"])


def questions(run: dict) -> list[str]:
    return [hop["question"] for hop in run["hops"]]


def test_a_new_question_replaces_the_hop_and_earlier_hops_are_kept(client, address):
    run = branched(client, address, hop=2, question="In which country was he born?")
    assert questions(run)[:2] == ["Who wrote Hamlet?", "In which country was he born?"]
    assert run["id"] != address.rpartition("/")[2]
    assert questions(client.get(address).json) == ["Who wrote Hamlet?", "Where was William Shakespeare born?"]


def test_without_a_new_question_another_answerer_gets_the_hops_question(client, address):
    run = branched(client, address, hop=2, answerer="reciter-reader")
    assert questions(run)[:2] == ["Who wrote Hamlet?", "Where was William Shakespeare born?"]
    assert run["options"]["answerer"] == "reciter-reader"


def test_a_left_out_hop_is_set_aside_and_one_more_hop_is_allowed(client, address):
    run = branched(client, address, hop=2, leave_out=True)
    assert [hop["status"] for hop in run["hops"]] == ["kept", "set_aside", "kept"]
    assert run["options"]["max_hops"] == client.get(address).json["options"]["max_hops"] + 1


def test_the_page_and_the_api_start_the_same_branch(client, address):
    run = branched(client, address, hop=2, question="In which country was he born?")
    fields = {"csrf_token": token(client), "hop": 2, "question": "In which country was he born?"}
    sent = client.post(f"{address.removeprefix('/api/v1')}/branch", data=fields)
    of_the_page = ended(client, f"/api/v1{sent.location}")
    body = ("claim", "options", "modules", "label")
    assert {name: run[name] for name in body} == {name: of_the_page[name] for name in body}
    assert questions(run) == questions(of_the_page)


def test_only_the_owner_can_list_the_branches_of_a_run(client, address):
    made = [branched(client, address, hop=hop)["id"] for hop in (1, 2)]
    body = held_to("RunList", client.get(f"{address}/branches").json)
    assert ([run["id"] for run in body["runs"]], body["next"]) == (made, None)
    problem(client.application.test_client().get(f"{address}/branches"), 404)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "hop"),
        ({"hop": None}, "hop"),
        ({"hop": 3}, "question"),
        ({"hop": 4}, "hop"),
        ({"hop": 0}, "hop"),
        ({"hop": -1}, "hop"),
        ({"hop": "2"}, "hop"),
        ({"hop": True}, "hop"),
        ({"hop": 10**4000}, "hop"),
        ({"hop": 2, "question": " "}, "question"),
        ({"hop": 2, "question": "x" * 501}, "question"),
        ({"hop": 2, "question": 7}, "question"),
        ({"hop": 2, "question": "Who?", "leave_out": True}, "leave_out"),
        ({"hop": 2, "leave_out": "yes"}, "leave_out"),
        ({"hop": 2, "answerer": "flan-t5"}, "answerer"),
        ({"hop": 2, "answerer": "nobody"}, "answerer"),
        ({"hop": 2, "answerer": ["retriever-reader"]}, "answerer"),
        ({"hop": 2, "claim": "Another claim."}, "claim"),
    ],
)
def test_an_invalid_field_is_named_and_nothing_is_started(client, address, fields, field):
    answered = problem(client.post(f"{address}/branch", json=fields), 422)
    assert answered["field"] == field and answered["detail"].endswith(".")
    assert client.get(f"{address}/branches").json["runs"] == []


def test_a_running_run_cannot_be_branched(make_app):
    gate = Gate("answer 2")
    client = make_app(scripted_container(gate=gate)).test_client()
    address = start(client)
    assert gate.reached.wait(LONG)
    assert "still running" in problem(client.post(f"{address}/branch", json={"hop": 1}), 409)["detail"]
    gate.open()


def test_others_get_404_when_they_branch_a_run(client, address):
    stranger = client.application.test_client()
    problem(stranger.post(f"{address}/branch", json={"hop": 1}), 404)
    start(stranger)
    problem(stranger.post(f"{address}/branch", json={"hop": 1}), 404)
    problem(client.post("/api/v1/runs/never/branch", json={"hop": 1}), 404)


def test_a_branch_belongs_to_the_token_that_made_it(make_app, tmp_path):
    app, one, two = with_tokens(make_app, tmp_path, "one", "two", container=container())
    client = app.test_client()
    address = client.post("/api/v1/runs", json={"claim": "Hamlet is a play."}, headers=one).headers["Location"]
    ended(client, address)
    problem(client.post(f"{address}/branch", json={"hop": 1}), 401)
    problem(client.post(f"{address}/branch", json={"hop": 1}, headers=two), 404)
    sent = client.post(f"{address}/branch", json={"hop": 1}, headers=one)
    assert (sent.status_code, "Set-Cookie" in sent.headers) == (201, False)
    assert [len(client.get("/api/v1/runs", headers=each).json["runs"]) for each in (one, two)] == [2, 0]


def test_branches_count_as_started_runs(make_app):
    client = make_app(rate_limit="2 per minute").test_client()
    address = start(client)
    ended(client, address)
    answers = [client.post(f"{address}/branch", json={"hop": 1}) for _ in range(2)]
    assert [each.status_code for each in answers] == [201, 429]
    assert problem(answers[1], 429)["retry_after"] > 0
