"""Link previews: title, description and canonical address of each page."""

from __future__ import annotations

import html
import re

from tests.web.conftest import started, wait_for

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


def test_every_other_page_has_its_own_description_and_error_pages_are_not_indexed(client):
    pages = {path: tags(client.get(path).text) for path in ("/", "/how-it-works", "/choices", "/api")}
    assert len({meta["description"] for meta in pages.values()}) == len(pages)
    assert all(meta["canonical"] == f"http://localhost{path}" for path, meta in pages.items())
    assert not any("robots" in meta for meta in pages.values())
    lost = tags(client.get("/nowhere").text)
    assert "canonical" not in lost and "og:url" not in lost and lost["robots"] == "noindex"
