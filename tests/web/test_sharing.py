"""The ways in from browsers and other sites, the preview of a link, and the card, the picture in it."""

from __future__ import annotations

import io
import re
from html import unescape
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from PIL import Image

from app.web.sharing import UNREADABLE, ShareCard, as_png
from tests.fakes import FAILING, scripted_container
from tests.waiting import LONG
from tests.web.conftest import finished, started, wait_for

CLAIM = "Hamlet's author was born in England."
MARKED_UP = 'The "author" of Hamlet & Macbeth was <b>born</b> in England.'
CARD = ShareCard("Claim", CLAIM, "True", "Supported", "Shakespeare was born in Stratford.", "supported")


def test_a_browser_can_take_the_site_as_a_search_engine(client):
    page = client.get("/").text
    (link,) = re.findall(r'<link rel="search" type="application/opensearchdescription\+xml"[^>]*href="([^"]+)"', page)
    answer = client.get(link)
    assert answer.mimetype == "application/opensearchdescription+xml"
    described = {each.tag.partition("}")[2]: each for each in ElementTree.fromstring(answer.text)}
    assert len(described["ShortName"].text) <= 16 and client.get(described["Image"].text).status_code == 200
    search = next(each for each in ElementTree.fromstring(answer.text) if each.get("type") == "text/html")
    address = search.get("template").replace("{searchTerms}", quote(CLAIM))
    assert address.startswith("http://localhost/")
    assert f">\n{CLAIM}</textarea>" in unescape(client.get(address).text)


def test_the_icon_has_the_address_at_which_programs_look_for_it(client):
    icon = Image.open(io.BytesIO(client.get("/favicon.ico").data))
    assert icon.format == "ICO" and icon.info["sizes"] == {(16, 16), (32, 32), (48, 48)}


def report_path(page: str) -> str:
    return re.search(r"/runs/[\w-]+", page)[0]


@pytest.fixture
def drawn(monkeypatch) -> list[ShareCard]:
    """The cards that the site draws."""
    cards: list[ShareCard] = []
    monkeypatch.setattr("app.web.sharing.as_png", lambda card: cards.append(card) or b"a picture")
    return cards


def card(client, page: str, **headers):
    return client.get(f"{report_path(page)}/card.png", headers=headers)


def test_the_card_is_a_picture_of_1200_by_630_that_the_report_names(client):
    page = finished(client, CLAIM)
    meta = tags(page)
    assert meta["og:image"] == f"http://localhost{report_path(page)}/card.png"
    assert meta["og:image:alt"] == meta["title"] and meta["twitter:card"] == "summary_large_image"
    sent = card(client, page)
    assert sent.mimetype == "image/png" and len(sent.data) < 150_000
    size = Image.open(io.BytesIO(sent.data)).size
    assert size == (1200, 630) == (int(meta["og:image:width"]), int(meta["og:image:height"]))


def test_the_card_shows_claim_verdict_and_the_sentence_that_answers(client, drawn):
    card(client, finished(client, CLAIM))
    sentence = "Hamlet was written by William Shakespeare."
    assert drawn == [ShareCard("Claim", CLAIM, "True", "Supported", sentence, "supported")]


def test_a_card_that_the_client_has_is_not_drawn_again(client, drawn):
    page = finished(client, CLAIM)
    first = card(client, page)
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "private, no-cache"
    again = card(client, page, **{"If-None-Match": tag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
    assert card(client, page, **{"If-None-Match": '"another"'}).status_code == 200
    assert len(drawn) == 2


def test_only_a_report_with_a_verdict_has_a_card(make_app, gated):
    client, gate = gated("answer 1")
    path = started(client, CLAIM)
    assert gate.reached.wait(LONG)
    running = client.get(path).text
    assert card(client, running).status_code == 404 and "og:image" not in running
    gate.open()
    wait_for(client, path, 'id="verdict-heading"')
    client = make_app(scripted_container(FAILING)).test_client()
    failed = finished(client, CLAIM)
    assert card(client, failed).status_code == 404 and "og:image" not in failed


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("Recep Tayyip Erdoğan met Łukasz in São Paulo.", "Recep Tayyip Erdoğan met Łukasz in São Paulo."),
        ("Чайковский wrote Swan Lake.", "Чайковский wrote Swan Lake."),
        ("The sign says \u202eeslaf\u202c and\u200b more.", "The sign says eslaf and more."),
        ("Beyonce\u0301 sings.", "Beyoncé sings."),
        ("The city of 北京 is a capital.", UNREADABLE),
        ("He said שלום to all.", UNREADABLE),
    ],
    ids=["accents", "Cyrillic", "turned direction", "combining accent", "Chinese", "Hebrew"],
)
def test_a_claim_is_drawn_as_written_or_not_at_all(client, drawn, claim, shown):
    card(client, finished(client, claim))
    assert drawn[0].claim == shown


@pytest.mark.parametrize(
    "text", ["word " * 100, "W" * 500, "Erdoğan’s " * 50, "a"], ids=["words", "wide", "long", "short"]
)
@pytest.mark.parametrize("plain", ["True", "Sources disagree"])
def test_no_text_leaves_the_card_or_covers_another(text, plain):
    """The margins and the lines between the parts have nothing on them but the ground."""
    shown = CARD._replace(claim=text.strip(), sentence=text.strip(), plain=plain, formal="Conflicting evidence")
    image = Image.open(io.BytesIO(as_png(shown)))
    for empty in (
        (1140, 0, 1200, 630),
        (21, 0, 70, 630),
        (21, 335, 1200, 345),
        (21, 560, 1200, 570),
        (21, 612, 1200, 630),
    ):
        assert image.crop(empty).getcolors() == [((empty[2] - empty[0]) * (empty[3] - empty[1]), (247, 245, 240))], (
            empty
        )
    assert len(image.crop((70, 110, 1140, 335)).getcolors(9999)) > 1, "the claim"


def framed_by(answer) -> str:
    return re.search(r"frame-ancestors ([^;]+)", answer.headers["Content-Security-Policy"])[1]


def test_no_site_may_embed_a_report_unless_the_operator_allows_it(client):
    page = finished(client, CLAIM)
    refused = client.get(f"{report_path(page)}/embed")
    assert refused.status_code == 404 and "its operator has not allowed it" in refused.text
    assert framed_by(refused) == "'none'" and "iframe" not in page


def test_only_the_embedded_report_may_be_framed_and_only_by_the_allowed_sites(make_app):
    sites = ("https://news.example", "https://*.blog.example:8443")
    client = make_app(embed_on=sites).test_client()
    page = finished(client, CLAIM)
    path = report_path(page)
    shown = client.get(f"{path}/embed")
    assert framed_by(shown) == " ".join(sites) and shown.headers["X-Robots-Tag"] == "noindex"
    assert CLAIM in unescape(shown.text) and "Hamlet is a play by" in shown.text
    assert not re.search("<form|<button|<script|<input", shown.text), "nothing that a click in a frame could do"
    assert framed_by(client.get(path)) == framed_by(client.get("/")) == "'none'"
    assert client.get("/runs/none/embed").status_code == 404
    assert f"&lt;iframe src=&#34;http://localhost{path}/embed&#34;" in page


def test_a_site_with_a_password_cannot_be_embedded(make_app):
    """Browsers send no cookie into a frame of another site, so its visitors would see the password form only."""
    client = make_app(embed_on=("*",), site_password="correct horse").test_client()
    asked = client.get("/runs/none/embed")
    assert asked.status_code == 403 and framed_by(asked) == "'none'"


def tags(page: str) -> dict[str, str]:
    """The head's title, meta tags and canonical address, as a machine reads them."""
    head = page.partition("</head>")[0]
    found = {"title": re.search(r"<title>(.*?)</title>", head, re.DOTALL)[1].strip()}
    found |= dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)"', head))
    found |= dict(re.findall(r'<link rel="(canonical)" href="([^"]+)"', head))
    return {name: unescape(value) for name, value in found.items()}


def test_the_preview_of_a_finished_run_has_its_claim_and_verdict(client):
    path = started(client, MARKED_UP)
    meta = tags(wait_for(client, path, 'id="verdict-heading"'))
    assert meta["og:title"] == meta["title"] and meta["title"].startswith('True: The "author" of Hamlet')
    assert (
        meta["description"]
        == meta["og:description"]
        == (f"True, high confidence: {MARKED_UP} 2 questions asked, 2 answers used, with the evidence for each.")
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
