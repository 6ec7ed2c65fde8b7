"""Branching by the JSON API, as by the form of the page, and its errors."""

from __future__ import annotations

import pytest

from app.capabilities.options import Choice
from tests.fakes import SUPPORTED, TWO_HOPS, Script, ScriptedHop, answer, scripted_container
from tests.web.conftest import token
from tests.web.test_api import ended, held_to, start

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


def test_the_page_and_the_api_start_the_same_branch(client, address):
    run = branched(client, address, hop=2, question="In which country was he born?")
    fields = {"csrf_token": token(client), "hop": 2, "question": "In which country was he born?"}
    sent = client.post(f"{address.removeprefix('/api/v1')}/branch", data=fields)
    of_the_page = ended(client, f"/api/v1{sent.location}")
    body = ("claim", "options", "modules", "label")
    assert {name: run[name] for name in body} == {name: of_the_page[name] for name in body}
    assert questions(run) == questions(of_the_page)
