"""The page in other languages: nothing of it is left in English, and the catalogues are complete."""

from __future__ import annotations

import importlib.util
import re
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from app.domain.messages import Code, Words
from app.web import language
from app.web.language import LANGUAGES, words
from tests.web.conftest import ended_run, started, token

ROOT = Path(__file__).parents[2]
GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
FOREIGN = [code for code in LANGUAGES if code != "en"]


class Brackets:
    """A catalogue that puts brackets around what it translates."""

    def gettext(self, text: str) -> str:
        return f"⟦{text}⟧"

    def ngettext(self, text: str, plural: str, number: int) -> str:
        return f"⟦{text if number == 1 else plural}⟧"


class Untranslated(HTMLParser):
    """Collects the words outside of brackets, except for names, code, and content that is marked as English."""

    CONTENT = ("bdi", "cite", "code", "kbd", "script", "style")
    SHOWN = ("title", "aria-label", "placeholder", "alt")
    VOID = ("meta", "link", "input", "br", "img", "path", "rect", "circle", "hr", "base")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._depth, self._inside = 0, [False]
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        is_content = tag in self.CONTENT or values.get("lang") == "en" or values.get("id") == "share-summary"
        is_content = is_content or self._inside[-1]
        if tag not in self.VOID:
            self._inside.append(is_content and values.get("lang") != "de")
        if not is_content:
            for name in self.SHOWN:
                self._collect(values.get(name) or "", 0)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            self._inside.pop()

    def handle_data(self, data):
        if not self._inside[-1]:
            self._depth = self._collect(data, self._depth)

    def _collect(self, text: str, depth: int) -> int:
        outside = ""
        for each in text:
            depth += (each == "⟦") - (each == "⟧")
            outside += each if depth == 0 else " "
        self.found += re.findall(r"[A-Za-z’]{2,}", outside.replace("⟧", " "))
        return depth


NAMES = {"Hopcheck", "JSON", "API", "English", "UTC", "Markdown", "BibTeX", "RIS", "ClaimReview"}
"""Words outside of brackets that are the same in every language."""


CONTENT = (
    *("Hamlet&#39;s author was born in England.", "Hamlet", "England", "Denmark", "William Shakespeare", "1 claim"),
    *("Google&#39;s Fact Check Tools", "Google Fact Check Tools", "Google Gemini", "LM Studio", "llama.cpp"),
    *("Ollama", "OpenAI", "OpenRouter", "Mistral", "Groq", "SearXNG", "Brave", "Serper", "Tavily"),
)
"""Texts of the checks that the test makes, and names of services."""


def without_content(page: str) -> str:
    for text in CONTENT:
        page = page.replace(text, "")
    return page


def titles(app) -> set[str]:
    """Return the words of the options' titles that the test's container makes up."""
    known = app.extensions["hopcheck"].container.capabilities()
    groups = (known.strategies, known.presets, known.answerers, known.models, known.corpora, known.pursuits)
    choices = [each for group in (*groups, known.searches, known.sources) for each in group]
    texts = [text for each in choices for text in (each.title, each.reason)]
    texts += [group.title for group in app.extensions["hopcheck"].container.catalogue()]
    return {word for text in texts if not isinstance(text, Words) for word in re.findall(r"[A-Za-z’]{2,}", text)}


@pytest.fixture
def bracketed(monkeypatch):
    monkeypatch.setattr(language, "translations", lambda code: Brackets())


def pages(client):
    """Yield the address and the text of every page, with a run and a batch where it is about one."""
    runs = [ended_run(client).rpartition("/")[2] for _ in range(2)]
    batch = client.post("/api/v1/batches", json={"claims": ["Hamlet's author was born in England."]}).json["id"]
    for rule in client.application.url_map.iter_rules():
        if "GET" not in rule.methods or rule.endpoint.startswith("api.") or rule.endpoint == "exports.download":
            continue
        path = rule.rule.replace("<run_id>", runs[0]).replace("<batch_id>", batch).replace("<hop>", "1")
        answer = client.get(path, query_string={"run": runs, "hop": 2}, headers=GERMAN, buffered=True)
        if answer.mimetype == "text/html" and answer.status_code != 302:
            yield path, answer.text
    for path in ("/nowhere", "/compare", "/history?q=nothing"):
        yield path, client.get(path, headers=GERMAN).text
    data = {"csrf_token": token(client)}
    for claim in ("", "It is big.", "Is Paris in France?", "Paris ist die Hauptstadt von Frankreich und sehr schön."):
        yield f"the claim {claim!r}", client.post("/runs", data={**data, "claim": claim}, headers=GERMAN).text
    text = "Paris is in France. It has two million inhabitants. " * 20
    yield "a text", client.post("/runs", data={**data, "claim": text}, headers=GERMAN).text


def test_no_page_has_english_words_outside_of_the_catalogue(make_app, bracketed):
    client = make_app(publishing=True, embed_on=("https://example.org",)).test_client()
    client.application.jinja_env.bytecode_cache = None  # with brackets for this test alone
    left = {
        path: sorted({*Untranslated(without_content(page)).found} - NAMES - titles(client.application))
        for path, page in pages(client)
    }
    assert "\n".join(f"{path}: {' '.join(found)}" for path, found in left.items() if found) == ""


def test_a_running_check_and_its_stream_are_in_the_language_of_the_browser(gated):
    client, gate = gated("answer")
    path = started(client)
    assert "Hier erscheint die Antwort." in client.get(path, headers=GERMAN).text
    gate.open()
    stream = client.get(f"{path}/events", headers=GERMAN).text
    assert "Verwendet" in stream
    assert "Urteil" in stream


@pytest.mark.parametrize("code", FOREIGN)
def test_a_catalogue_has_every_word_of_the_page_and_a_translation_with_the_same_parameters(code):
    collecting = importlib.util.spec_from_file_location("translations", ROOT / "scripts/translations.py")
    script = importlib.util.module_from_spec(collecting)
    collecting.loader.exec_module(script)
    with (ROOT / f"locale/{code}/LC_MESSAGES/messages.po").open("rb") as file:
        catalogue = read_po(file, locale=code)
    wanted = {*script.in_templates(), *script.in_code(), *script.in_codes()}
    assert {message.id for message in catalogue if message.id} == wanted
    for message in catalogue:
        assert script.is_complete(message), message.id
        forms = zip(_forms(message.id), _forms(message.string), strict=True) if message.id else ()
        for text, translated in forms:
            assert _parameters(text) == _parameters(translated), text


def _forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else text


def _parameters(text: str) -> set[str]:
    return {*re.findall(r"%\(\w+\)s|\{\w+|</?\w+[^>]*>", text)}


@pytest.mark.parametrize(
    ("headers", "cookie", "query", "expected"),
    [
        ({}, "", "", "en"),
        (GERMAN, "", "", "de"),
        ({"Accept-Language": "fr"}, "", "", "en"),
        (GERMAN, "en", "", "en"),
        (GERMAN, "en", "?lang=de", "de"),
        ({}, "", "?lang=xx", "en"),
    ],
)
def test_the_language_is_the_one_chosen_else_that_of_the_browser(client, headers, cookie, query, expected):
    if cookie:
        client.set_cookie("lang", cookie)
    answer = client.get(f"/{query}", headers=headers)
    assert f'<html lang="{expected}"' in answer.text
    assert {"Accept-Language", "Cookie"} <= set(answer.vary.as_set(preserve_casing=True))


def test_a_choice_stays_and_can_be_changed_at_the_foot_of_the_page(client):
    page = client.get("/history?q=tower").text
    assert '<a href="/history?q=tower&amp;lang=de" hreflang="de" lang="de">Deutsch</a>' in page
    client.get("/history?q=tower&lang=de")
    assert "<h1>Ihre Prüfungen</h1>" in client.get("/history").text


def test_claims_and_evidence_are_marked_as_english(client):
    page = client.get(ended_run(client), headers=GERMAN).text
    assert '<h1 dir="auto" lang="en">' in page
    assert '<blockquote><p dir="auto" lang="en">' in page


def test_the_api_and_files_stay_in_english(client):
    path = ended_run(client)
    assert "## Verdict: True" in client.get(f"{path}/export.md", headers=GERMAN).text
    assert "Finished" not in client.get(f"{path}/export.html", headers=GERMAN).text
    assert "Behauptung" not in client.get(f"{path}/export.html", headers=GERMAN).text
    assert "claim" in client.post("/api/v1/runs", json={"claim": ""}, headers=GERMAN).json["detail"]


def test_numbers_and_parameters_are_written_as_the_language_writes_them(make_app):
    with make_app().test_request_context(headers=GERMAN):
        assert words(Code.SEARCHING_PASSAGES(count=10033, kind="passages")) == "durchsucht 10.033 Passagen"
        assert words(Words("{tokens:,} token", "{tokens:,} tokens", tokens=1)) == "1 Token"
        assert words(Words("{seconds:.1f} s", seconds=4.25)) == "4,2 s"
        assert (
            words(Words("as of {day:%-d %B %Y}, {files}", day=date(2026, 7, 1), files="1")) == "Stand 1. Juli 2026, 1"
        )
        assert words(Code.LEFT_OUT().to_owner()) == "Sie haben ihn ausgelassen."
        assert words(Words("A name that is {not} translated")) == "A name that is {not} translated"
    assert words(Code.SEARCHING_PASSAGES(count=10033, kind="passages")) == "searching 10,033 passages"
