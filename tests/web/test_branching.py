"""Branching an ended run: the form, the new run, and errors."""

from __future__ import annotations

import re
from html import unescape

import pytest

from app.capabilities.options import Choice
from tests.fakes import SUPPORTED, TWO_HOPS, Script, ScriptedHop, answer, scripted_container
from tests.web.conftest import ended_run, press, started, wait_for
from tests.web.test_api import ended

ONE_MORE = Script((ScriptedHop("Which land is that?", answer("England")),), SUPPORTED)
CHOICES = (
    Choice("retriever-reader", "Retriever and reader"),
    Choice("reciter-reader", "Reciter and reader"),
    Choice("flan-t5", "FLAN-T5", False, "FLAN-T5 is not installed."),
)


@pytest.fixture
def client(make_app):
    """A browser on an application whose first run has two kept hops; every later one finds one more."""
    return make_app(scripted_container(TWO_HOPS, ONE_MORE, choices=CHOICES)).test_client()


def branch(client, path: str, hop: object = 2, **fields):
    return press(client, path, "branch", **{"hop": hop, "question": "In which country was he born?", **fields})


def questions(page: str) -> list[str]:
    return re.findall(r'<li id="hop-\d+" class="hop.*?<h3[^>]*>(.*?)</h3>', page, re.DOTALL)


def test_the_form_holds_the_hops_question_and_answerer(client, path):
    page = client.get(f"{path}/branch?hop=2").text
    assert "Where was William Shakespeare born?</textarea>" in page
    assert re.search(r'value="retriever-reader" checked', page)
    assert "FLAN-T5" not in page, "what is not available is not offered"


def test_an_edited_question_starts_a_run_that_links_to_its_parent_and_is_listed_there(client, path):
    sent = branch(client, path)
    assert (sent.status_code, sent.location != path) == (303, True)
    page = wait_for(client, sent.location, 'id="verdict-heading"')
    assert questions(page)[:2] == ["Who wrote Hamlet?", "In which country was he born?"]
    assert f'href="{path}#hop-2">step 2 of an earlier check' in page
    assert "Step 2 was “<bdi>Where was William Shakespeare born?</bdi>”." in page and "Verdict then:" in page
    assert page.count("From the earlier check") == 1
    assert f'href="{sent.location}"' in client.get(path).text
    assert sent.location not in client.application.test_client().get(path).text, "only the owner sees it"


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({"question": "x" * 501}, "The question has 501 characters; at most 500 are allowed."),
        ({"answerer": "flan-t5"}, "FLAN-T5 is not available here."),
    ],
)
def test_an_invalid_form_comes_back_as_typed_with_the_reason(client, path, fields, expected):
    sent = branch(client, path, **fields)
    assert (sent.status_code, expected in sent.text) == (422, True)
    assert fields.get("question", "In which country was he born?") in sent.text
    assert "Continued from here" not in client.get(path).text


@pytest.mark.parametrize("hop", ["4", "0", "-1", "two", "", "²", "9" * 5000])
def test_an_unknown_hop_is_reported_on_the_page_of_the_run(client, path, hop):
    asked, sent = client.get(f"{path}/branch", query_string={"hop": hop}), branch(client, path, hop)
    assert (asked.status_code, sent.status_code) == (422, 422)
    for answered in (asked, sent):
        assert re.search(r'role="alert">(This check has no hop \d+|Choose the step to continue from)\.', answered.text)


def test_branches_count_as_started_runs(make_app):
    client = make_app(rate_limit="2 per minute").test_client()
    path = ended_run(client)
    assert [branch(client, path).status_code for _ in range(2)] == [303, 429]


def test_by_the_api_a_branch_asks_the_question_that_was_sent(client, path):
    sent = client.post(f"/api/v1{path}/branch", json={"hop": 2, "question": "In which country was he born?"})
    assert ended(client, sent.headers["Location"])["hops"][1]["question"] == "In which country was he born?"


def test_asking_again_fills_the_form_in_from_the_earlier_run(client):
    path = started(client, "Hamlet is a play.", speaker="A visitor", max_hops="3", answerer="reciter-reader")
    page = client.get(f"/?again={path.rsplit('/', 1)[-1]}").text
    assert "\nHamlet is a play.</textarea>" in page
    assert 'value="A visitor"' in page and re.search(r'id="max_hops"[^>]*value="3"', page)
    assert re.search(r'value="reciter-reader" checked', page)
    assert re.search(r'value="vital" checked', page), "options that the earlier run did not use have their defaults"
    assert client.get("/?again=never").status_code == 404


def test_one_press_runs_the_same_check_again(client):
    """With the claim and every choice of the first; a second press of the same button starts nothing more."""
    path = started(client, "Hamlet is a play.", speaker="A visitor", max_hops="3", labels="four")
    form = re.search(r'<form class="again[^"]*".*?</form>', wait_for(client, path, 'id="verdict-heading"'), re.DOTALL)[
        0
    ]
    fields = [(name, unescape(value)) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)]
    data = {name: [value for each, value in fields if each == name] for name, _ in fields}
    again = client.post("/runs", data=data)
    assert again.status_code == 303 and again.location != path
    assert client.post("/runs", data=data).location == again.location
    wait_for(client, again.location, 'id="verdict-heading"')
    first, second = (client.get(f"{each}/export.json").json for each in (path, again.location))
    assert all(second[field] == first[field] for field in ("claim", "speaker", "options"))
