"""Link previews: title, description and canonical address of each page."""

from __future__ import annotations

import html
import re

import pytest

from app.domain.model import Label, Verdict
from tests.fakes import FAILING, TWO_HOPS, Gate, Script, scripted_container
from tests.waiting import LONG
from tests.web.conftest import finished, started, wait_for

CLAIM = 'The "author" of Hamlet & Macbeth was <b>born</b> in England.'


def tags(page: str) -> dict[str, str]:
    """The head's title, meta tags and canonical address, as a machine reads them."""
    head = page.partition("</head>")[0]
    found = {"title": re.search(r"<title>(.*?)</title>", head, re.DOTALL)[1].strip()}
    found |= dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)"', head))
    found |= dict(re.findall(r'<link rel="(canonical)" href="([^"]+)"', head))
    return {name: html.unescape(value) for name, value in found.items()}


def test_the_preview_of_a_finished_run_has_its_claim_and_verdict(client):
    path = started(client, CLAIM)
    meta = tags(wait_for(client, path, 'id="verdict-heading"'))
    assert meta["og:title"] == meta["title"] and meta["title"].startswith('True: The "author" of Hamlet')
    assert (
        meta["description"]
        == meta["og:description"]
        == (f"True, high confidence: {CLAIM} 2 questions asked, 2 answers used, with the evidence for each.")
    )
    assert meta["canonical"] == meta["og:url"] == f"http://localhost{path}"
    assert meta["og:type"] == "article" and meta["robots"] == "noindex"


def test_the_canonical_address_ignores_the_query(client):
    path = started(client)
    assert tags(client.get(f"{path}?cards=open&utm_source=x").text)["canonical"] == f"http://localhost{path}"


def test_the_preview_of_a_running_run_says_that_it_is_being_checked(make_app):
    gate = Gate("answer 1")
    client = make_app(scripted_container(gate=gate)).test_client()
    path = started(client, CLAIM)
    assert gate.reached.wait(LONG)
    assert tags(client.get(path).text)["og:description"] == f"Being checked: {CLAIM}"
    gate.open()


@pytest.mark.parametrize(
    ("script", "begins"),
    [
        (FAILING, "No verdict, the check failed: "),
        (
            Script(TWO_HOPS.hops, Verdict(Label.NOT_ENOUGH_EVIDENCE, ())),
            "Can’t tell: ",
        ),
    ],
)
def test_other_outcomes_are_described_in_words(make_app, script, begins):
    client = make_app(scripted_container(script)).test_client()
    assert tags(finished(client, CLAIM))["og:description"].startswith(begins + CLAIM)


def test_every_other_page_has_its_own_description_and_error_pages_are_not_indexed(client):
    pages = {path: tags(client.get(path).text) for path in ("/", "/how-it-works", "/choices", "/api")}
    assert len({meta["description"] for meta in pages.values()}) == len(pages)
    assert all(meta["canonical"] == f"http://localhost{path}" for path, meta in pages.items())
    assert not any("robots" in meta for meta in pages.values())
    lost = tags(client.get("/nowhere").text)
    assert "canonical" not in lost and "og:url" not in lost and lost["robots"] == "noindex"
