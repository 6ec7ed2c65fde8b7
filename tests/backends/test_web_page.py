"""Reading a web page: over real HTTP, through robots.txt and parsers, into a cached Page."""

from __future__ import annotations

import re
import time
import tracemalloc
from gzip import compress
from typing import Any

import pytest

from app.backends.fetch.pages import (
    CACHE_SECONDS,
    MAX_ROBOTS_BYTES,
    MAX_TEXT_CHARACTERS,
    USER_AGENT,
    RobotsCache,
    WebPages,
    is_page_allowed,
)
from app.backends.fetch.safe_http import Budget, GuardedHttp
from app.config.settings import ROOT
from app.domain.errors import CallFailed
from app.domain.instrumentation import use_stores
from app.domain.model import Page, SearchHit
from tests.backends.test_corpus_folder import pdf
from tests.stores import JsonStore
from tests.web_server import Sent, WebServer, client, moved

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


def message_of(reader: WebPages, url: str) -> str:
    with pytest.raises(CallFailed) as failure:
        reader.read(hit(url))
    return str(failure.value)


def read(sent: Sent, **more: Any) -> Page:
    with WebServer({"/": sent}) as site:
        return pages(site, **more).read(hit(site.url()))


class TestPages:
    def test_an_html_page_has_its_own_title_date_and_site(self):
        with WebServer({"/a": moved("/b"), "/b": Sent(HTML)}) as site:
            found = pages(site).read(hit(site.url("/a#part")))
            assert found == Page(site.url("/b"), "The tower", "good.test", (SENTENCE * 5).strip(), "2020-03-04")

    def test_a_plain_text_has_title_and_date_from_the_search_hit(self):
        page = read(Sent("Erdoğan\n\nМосква".encode(), kind=TEXT))
        assert (page.title, page.published, page.text) == ("Found title", "2021-01-01", "Erdoğan\n\nМосква")

    @pytest.mark.parametrize("kind", ["application/pdf", "text/html"])
    def test_a_pdf_is_recognized_whatever_its_content_type(self, kind):
        page = read(Sent(pdf("The tower is tall.", title="A paper"), kind=kind))
        assert (page.text, page.title) == ("The tower is tall.", "A paper")

    def test_a_very_long_text_is_truncated(self):
        assert len(read(Sent(b"word " * 400_000, kind=TEXT)).text) in range(
            MAX_TEXT_CHARACTERS - 5, MAX_TEXT_CHARACTERS + 1
        )


class TestRefused:
    @pytest.mark.parametrize(
        ("sent", "message"),
        [
            (Sent(status=404), "good.test answers 404 (Not Found) for this page."),
            (Sent(b" \n\0", kind=TEXT), "The page of good.test is empty."),
            (Sent(b"<html></html>"), "The page of good.test has no readable text."),
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
    def test_a_page_that_cannot_be_read_is_reported_with_its_reason(self, sent, message):
        with WebServer({"/": sent}) as site:
            assert message_of(pages(site), site.url()) == message

    @pytest.mark.parametrize(
        "url", ["", "http://[", "file:///etc/passwd", "http://a:secret@good.test/", "\ud800", "x" * 9000]
    )
    def test_a_hit_with_an_invalid_url_fails_without_quoting_it(self, url):
        message = message_of(WebPages(), url)
        assert message and "secret" not in message and len(message) < 200

    def test_robots_and_page_share_the_time_budget(self):
        slow = Sent(b"Hello", kind=TEXT, delay=0.4)
        with WebServer({"/robots.txt": slow, "/": slow}) as site:
            assert "given up" in message_of(pages(site, robots=True, fetch_seconds=0.6), site.url())


class TestRobots:
    RULES = Sent(b"User-agent: hopcheck\nDisallow: /private", kind="text/plain")
    PAGE = Sent(b"Hello", kind=TEXT)

    def test_a_page_disallowed_by_robots_is_not_fetched(self):
        with WebServer({"/robots.txt": self.RULES, "/private": self.PAGE, "/": self.PAGE}) as site:
            reader = pages(site, robots=True)
            assert "programs do not read this page" in message_of(reader, site.url("/private"))
            assert reader.read(hit(site.url())).text == "Hello"
        assert site.asked == ["/robots.txt", "/"]
        assert site.headers[0]["user-agent"] == "Hopcheck/test"

    def test_a_redirect_to_another_site_obeys_the_rules_of_that_site(self):
        with WebServer({"/robots.txt": self.RULES, "/private": self.PAGE}) as other, WebServer({}) as site:
            site.pages["/"] = moved(other.url("/private", "other.test"))
            assert "other.test asks that programs" in message_of(pages(site, other, robots=True), site.url())
        assert (site.asked, other.asked) == (["/robots.txt", "/"], ["/robots.txt"])

    @pytest.mark.parametrize(
        ("rules", "path", "allowed"),
        [
            ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
            ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?page=2", True),
            ("User-agent: *\nAllow: /news/\nDisallow: /news/*/draft", "/news/today/draft", False),
            ("User-agent: *\nDisallow: /caf%C3%A9", "/caf\u00e9", False),
            ("User-agent: Hopcheck/1.0\nUser-agent: other\nDisallow: /", "/", False),
            ("User-agent: Hop\nUser-agent: Hopcheck-Images\nUser-agent: My Hopcheck\nDisallow: /", "/", True),
            ("User-agent: hopcheck\nDisallow: /a\n\nUser-agent: hopcheck\nDisallow: /b", "/b", False),
            ("\ufeffUser-agent: *\r\nDisallow: / # everything\r\n", "/a", False),
        ],
    )
    def test_wildcards_the_longest_match_and_the_own_group_count_as_in_rfc_9309(self, rules, path, allowed):
        with WebServer({"/robots.txt": Sent(rules.encode(), kind="text/plain"), path: self.PAGE}) as site:
            reader = pages(site, robots=True)
            if allowed:
                assert reader.read(hit(site.url(path))).text == "Hello"
            else:
                assert "programs do not read this page" in message_of(reader, site.url(path))

    def test_a_file_with_thousands_of_programs_and_rules_takes_little_memory(self):
        hostile = "\n".join(f"useragent {number}" for number in range(1500)) + "\nallow /" * 3000
        tracemalloc.start()
        try:
            assert is_page_allowed(hostile, "Hopcheck", "http://good.test/")
            assert tracemalloc.get_traced_memory()[1] < 20 * 1024**2
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize(
        "rule",
        ["disallow:/" + "*a" * 500 + "b\n", "disallow:/*a*{}\n", "disallow:{}$$$\n", "disallow:/%e4%{}\n", "{}:\n"],
    )
    def test_a_file_of_the_maximum_size_is_read_in_seconds_whatever_its_rules(self, rule):
        hostile = "user-agent:*\n" + "".join(rule.format(number) for number in range(MAX_ROBOTS_BYTES // len(rule)))
        began = time.process_time()
        assert is_page_allowed(hostile, "Hopcheck", "http://good.test/" + "a" * 4000)
        assert time.process_time() - began < 10


class TestCaching:
    def test_a_page_is_fetched_once_for_any_fragment_and_any_hit(self):
        store = JsonStore()
        with WebServer({"/": Sent(b"Hello", kind=TEXT)}) as site:
            with use_stores(store):
                first = pages(site).read(hit(site.url("/#one")))
                second = pages(site).read(SearchHit("Other title", "", "", site.url("/#two")))
            assert site.asked == ["/"]
        assert all(call.costly for call in store.calls)
        assert (first.text, first.title, first.published) == ("Hello", "Found title", "2021-01-01")
        assert (second.text, second.title, second.published) == ("Hello", "Other title", None)

    def test_a_page_cached_without_robots_is_not_used_when_robots_are_obeyed(self):
        store = JsonStore()
        with WebServer({"/robots.txt": TestRobots.RULES, "/private": TestRobots.PAGE}) as site, use_stores(store):
            pages(site, robots=False).read(hit(site.url("/private")))
            assert "programs do not read" in message_of(pages(site, robots=True), site.url("/private"))


def test_the_app_uses_the_guarded_client_without_exceptions():
    texts = {path.name: path.read_text() for path in (ROOT / "app").rglob("*.py")}
    made = {name: re.findall(r"GuardedHttp\((.*)\)", text) for name, text in texts.items() if "GuardedHttp(" in text}
    assert set(made) == {"pages.py", "wikipedia.py"}
    given = {name for calls in made.values() for call in calls for name in re.findall(r"(\w+)=", call)}
    assert given <= {"accept", "limiter"}  # none that opens a port or an address
    assert GuardedHttp(USER_AGENT)._ports == (80, 443)


def checked(robots: RobotsCache, url: str) -> str:
    """Return "" when the page may be read, otherwise the message."""
    try:
        robots.check(url, Budget(5))
    except CallFailed as error:
        return str(error)
    return ""


class TestRobotsFile:
    @pytest.mark.parametrize(("status", "may"), [(404, True), (410, True), (401, False), (403, False)])
    def test_a_missing_robots_file_allows_all_and_a_forbidden_one_allows_nothing(self, status, may):
        with WebServer({"/robots.txt": Sent(status=status)}) as site:
            assert (checked(RobotsCache(client(site), "Hopcheck"), site.url()) == "") is may

    @pytest.mark.parametrize("sent", [Sent(status=503), Sent(status=429), Sent(b"#" * 2_000_000)])
    def test_unavailable_rules_allow_nothing_and_are_fetched_again(self, sent):
        with WebServer({"/robots.txt": sent}) as site:
            robots = RobotsCache(client(site), "Hopcheck")
            assert checked(robots, site.url()).startswith("good.test ")
            site.pages["/robots.txt"] = Sent()
            assert checked(robots, site.url()) == ""

    @pytest.mark.parametrize(
        "rules", [b"", b"\0\xff\xfe", b"<html>soft 404</html>", b"Disallow: /\nUser-agent", b"::\n:"]
    )
    def test_malformed_rules_forbid_nothing(self, rules):
        with WebServer({"/robots.txt": Sent(rules)}) as site:
            assert checked(RobotsCache(client(site), "Hopcheck"), site.url()) == ""


class TestRobotsCache:
    def test_rules_are_fetched_once_an_hour(self):
        now = [0.0]
        with WebServer({"/robots.txt": TestRobots.RULES}) as site:
            robots = RobotsCache(client(site), "Hopcheck", lambda: now[0])
            for path in "/", "/a", "/private":
                checked(robots, site.url(path))
            assert site.asked == ["/robots.txt"]
            now[0] = CACHE_SECONDS + 1
            checked(robots, site.url())
        assert site.asked == ["/robots.txt"] * 2

    def test_rules_are_kept_per_host_and_port(self):
        with WebServer({"/robots.txt": TestRobots.RULES}) as site, WebServer({}) as other:
            robots = RobotsCache(client(site, other), "Hopcheck")
            assert checked(robots, site.url("/private")) and not checked(robots, other.url("/private"))
            assert checked(robots, site.url("/private", host="other.test"))
        assert (len(site.asked), len(other.asked)) == (2, 1)
