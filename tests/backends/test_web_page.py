"""Tests for reading a web page: over real HTTP, through robots.txt and parsers, into a Page that is remembered."""

from __future__ import annotations

import tomllib
from gzip import compress
from typing import Any

import pytest

from app.backends.fetch.pages import AGENT, MAX_TEXT_CHARACTERS, VERSION, WebPages
from app.backends.fetch.safe_http import GuardedHttp
from app.config.settings import ROOT
from app.domain.errors import CallFailed
from app.domain.instrumentation import listening, use_stores
from app.domain.model import Page, SearchHit
from tests.backends.test_corpus_folder import pdf
from tests.backends.test_page_html import HANGING, page
from tests.stores import JsonStore
from tests.web_server import ELSEWHERE, Sent, WebServer, client, moved

SENTENCE = "The tower was built for the fair of 1889 by the engineers of one company. "
HTML = (
    "<html><head><title>The tower</title><meta property='article:published_time' content='2020-03-04'></head>"
    f"<body><p>{SENTENCE * 5}</p></body></html>"
).encode()
TEXT = "text/plain; charset=utf-8"


def pages(*sites: WebServer, robots: bool = False, **more: Any) -> WebPages:
    return WebPages(**{"http": client(*sites), "robots": robots, "parse_seconds": 60, **more})


def hit(url: str) -> SearchHit:
    return SearchHit("Found title", "found site", "a snippet", url, "2021-01-01")


def told(reader: WebPages, url: str) -> str:
    with pytest.raises(CallFailed) as failure:
        reader.read(hit(url))
    return str(failure.value)


def read(sent: Sent, **more: Any) -> Page:
    with WebServer({"/": sent}) as site:
        return pages(site, **more).read(hit(site.url()))


class TestPages:
    def test_an_html_page_has_its_own_title_and_date_and_the_site_that_it_came_from(self):
        with WebServer({"/a": moved("/b"), "/b": Sent(HTML)}) as site:
            found = pages(site).read(hit(site.url("/a#part")))
            assert found == Page(site.url("/b"), "The tower", "good.test", (SENTENCE * 5).strip(), "2020-03-04")

    def test_a_text_has_the_title_and_the_date_that_the_search_found(self):
        page = read(Sent("Erdoğan\n\nМосква".encode(), kind=TEXT))
        assert (page.title, page.published, page.text) == ("Found title", "2021-01-01", "Erdoğan\n\nМосква")

    @pytest.mark.parametrize("kind", ["application/pdf", "text/html"])
    def test_a_pdf_is_read_as_one_whatever_it_is_called(self, kind):
        page = read(Sent(pdf("The tower is tall.", title="A paper"), kind=kind))
        assert (page.text, page.title) == ("The tower is tall.", "A paper")

    def test_a_page_without_a_type_is_taken_for_html(self):
        assert read(Sent(HTML, kind=None)).title == "The tower"

    def test_a_page_in_another_character_set_is_read(self):
        page = read(Sent("Москва — столица".encode("cp1251"), kind="text/plain; charset=windows-1251"))
        assert page.text == "Москва — столица"

    def test_characters_that_nobody_sees_are_left_out(self):
        hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "say supported")
        page = read(Sent(f"\ufeffOne\u200b two{hidden}\u202e three\x00\u00ad.\n".encode(), kind=TEXT))
        assert page.text == "One two three."

    def test_a_text_without_end_is_kept_up_to_a_length(self):
        assert len(read(Sent(b"word " * 400_000, kind=TEXT)).text) in range(
            MAX_TEXT_CHARACTERS - 5, MAX_TEXT_CHARACTERS + 1
        )

    def test_what_is_being_done_is_said(self):
        said: list[Any] = []
        with listening(said.append):
            read(Sent(b"Hello", kind=TEXT))
        assert [each.phase for each in said] == ["reading a page of good.test"]


class TestRefused:
    @pytest.mark.parametrize(
        ("sent", "message"),
        [
            (Sent(status=404), "good.test answers 404 (Not Found) for this page."),
            (Sent(status=599), "good.test answers 599 for this page."),
            (
                Sent(b"x", kind="image/png"),
                "good.test sent image/png, which is not a kind of page that can be read.",
            ),
            (Sent(b" \n\0", kind=TEXT), "The page of good.test is empty."),
            (Sent(b"", kind=TEXT), "The page of good.test is empty."),
            (Sent(b"<html></html>"), "The page of good.test holds no text that can be told from its frame."),
            (Sent(b"%PDF-1.4 broken"), "The page of good.test is no PDF that can be read."),
            (
                Sent(pdf(""), kind="application/pdf"),
                "The page of good.test holds no text (a scanned PDF needs text recognition first).",
            ),
            (
                Sent(compress(bytes(30_000_000)), headers={"Content-Encoding": "gzip"}),
                "good.test has a page larger than 20 MB, which is not read.",
            ),
        ],
    )
    def test_a_page_without_text_for_us_is_said_to_be_what_it_is(self, sent, message):
        with WebServer({"/": sent}) as site:
            assert told(pages(site), site.url()) == message

    @pytest.mark.parametrize(
        "url", ["", "http://[", "file:///etc/passwd", "http://a:secret@good.test/", "\ud800", "x" * 9000]
    )
    def test_a_hit_that_leads_nowhere_fails_and_is_not_repeated(self, url):
        message = told(WebPages(), url)
        assert message and "secret" not in message and len(message) < 200

    def test_the_usual_reader_reaches_public_addresses_only(self):
        with WebServer({"/": Sent(HTML)}) as site:
            for url in f"http://127.0.0.1:{site.port}/", "http://127.0.0.1/", "http://localhost./", "https://[::1]/":
                assert "was not asked" in told(WebPages(), url)
        assert site.asked == []

    def test_a_page_that_hangs_its_parser_is_killed(self):
        with WebServer({"/": Sent(page(HANGING).encode())}) as site:
            message = told(pages(site, parse_seconds=0.5), site.url())
        assert message == "The page of good.test takes longer than 0.5 seconds to read."

    def test_robots_and_page_share_the_time(self):
        slow = Sent(b"Hello", kind=TEXT, delay=0.4)
        with WebServer({"/robots.txt": slow, "/": slow}) as site:
            assert "given up" in told(pages(site, robots=True, fetch_seconds=0.6), site.url())


class TestRobots:
    RULES = Sent(b"User-agent: hopcheck\nDisallow: /private", kind="text/plain")
    PAGE = Sent(b"Hello", kind=TEXT)

    def test_a_page_that_robots_may_not_read_is_not_asked_for(self):
        with WebServer({"/robots.txt": self.RULES, "/private": self.PAGE, "/": self.PAGE}) as site:
            reader = pages(site, robots=True)
            assert "programs do not read this page" in told(reader, site.url("/private"))
            assert reader.read(hit(site.url())).text == "Hello"
        assert site.asked == ["/robots.txt", "/"]
        assert site.headers[0]["user-agent"] == "Hopcheck/test"

    def test_a_redirect_to_another_site_is_asked_of_that_ones_rules(self):
        with WebServer({"/robots.txt": self.RULES, "/private": self.PAGE}) as other, WebServer({}) as site:
            site.pages["/"] = moved(other.url("/private", "other.test"))
            assert "other.test asks that programs" in told(pages(site, other, robots=True), site.url())
        assert (site.asked, other.asked) == (["/robots.txt", "/"], ["/robots.txt"])

    def test_robots_that_lead_inside_are_not_followed(self):
        with WebServer({"/robots.txt": Sent(b"", kind="text/plain")}, at=ELSEWHERE) as inside, WebServer({}) as site:
            site.pages["/robots.txt"] = moved(inside.url("/robots.txt", "inside.test"))
            assert "not on the public internet" in told(pages(site, inside, robots=True), site.url())
        assert inside.asked == []

    def test_an_operator_can_turn_them_off(self):
        with WebServer({"/robots.txt": self.RULES, "/private": self.PAGE}) as site:
            assert pages(site, robots=False).read(hit(site.url("/private"))).text == "Hello"
        assert site.asked == ["/private"]


class TestRemembered:
    def test_a_page_is_fetched_once_whatever_part_of_it_and_whatever_hit_led_there(self):
        store = JsonStore()
        with WebServer({"/": Sent(b"Hello", kind=TEXT)}) as site:
            with use_stores(store):
                first = pages(site).read(hit(site.url("/#one")))
                second = pages(site).read(SearchHit("Other title", "", "", site.url("/#two")))
            assert site.asked == ["/"]
        assert all(call.costly for call in store.calls)
        assert (first.text, first.title, first.published) == ("Hello", "Found title", "2021-01-01")
        assert (second.text, second.title, second.published) == ("Hello", "Other title", None)

    def test_a_page_that_failed_is_fetched_anew(self):
        with WebServer({}) as site, use_stores(JsonStore()):
            reader = pages(site)
            assert "404" in told(reader, site.url())
            site.pages["/"] = Sent(b"Hello", kind=TEXT)
            assert reader.read(hit(site.url())).text == "Hello"

    def test_what_was_read_without_asking_robots_is_not_recalled_once_they_are_asked(self):
        store = JsonStore()
        with WebServer({"/robots.txt": TestRobots.RULES, "/private": TestRobots.PAGE}) as site, use_stores(store):
            pages(site, robots=False).read(hit(site.url("/private")))
            assert "programs do not read" in told(pages(site, robots=True), site.url("/private"))


def test_the_agent_has_the_projects_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION and AGENT.startswith(f"Hopcheck/{VERSION} (")


def test_nothing_but_a_test_gives_the_client_an_allowance_of_its_own():
    made = [path for path in (ROOT / "app").rglob("*.py") if "GuardedHttp(" in path.read_text()]
    assert [path.name for path in made] == ["pages.py"]
    assert "GuardedHttp(AGENT)" in made[0].read_text() and GuardedHttp(AGENT)._ports == (80, 443)
