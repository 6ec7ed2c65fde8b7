"""Tests for robots.txt: its rules, missing or unavailable files, and caching."""

from __future__ import annotations

import pytest

from app.backends.fetch.pages import CACHE_SECONDS, RobotsCache
from app.backends.fetch.safe_http import Budget
from app.domain.errors import CallFailed
from tests.web_server import Sent, WebServer, client

RULES = b"""\xef\xbb\xbf# ours
User-agent: Hopcheck
Allow: /private/open
Disallow: /private

User-agent: *
Disallow: /
"""


def text(body: bytes = b"", status: int = 200) -> Sent:
    return Sent(body, kind="text/plain", status=status)


def checked(robots: RobotsCache, url: str) -> str:
    """Return "" when the page may be read, otherwise the message."""
    try:
        robots.check(url, Budget(5))
    except CallFailed as error:
        return str(error)
    return ""


class TestRules:
    @pytest.mark.parametrize(("status", "may"), [(404, True), (410, True), (401, False), (403, False)])
    def test_a_missing_robots_file_allows_all_and_a_forbidden_one_allows_nothing(self, status, may):
        with WebServer({"/robots.txt": text(status=status)}) as site:
            assert (checked(RobotsCache(client(site), "Hopcheck"), site.url()) == "") is may

    @pytest.mark.parametrize("sent", [text(status=503), text(status=429), text(b"#" * 2_000_000)])
    def test_unavailable_rules_allow_nothing_and_are_fetched_again(self, sent):
        with WebServer({"/robots.txt": sent}) as site:
            robots = RobotsCache(client(site), "Hopcheck")
            assert checked(robots, site.url()).startswith("good.test ")
            site.pages["/robots.txt"] = text()
            assert checked(robots, site.url()) == ""

    @pytest.mark.parametrize(
        "rules", [b"", b"\0\xff\xfe", b"<html>soft 404</html>", b"Disallow: /\nUser-agent", b"::\n:"]
    )
    def test_malformed_rules_forbid_nothing(self, rules):
        with WebServer({"/robots.txt": text(rules)}) as site:
            assert checked(RobotsCache(client(site), "Hopcheck"), site.url()) == ""


class TestCaching:
    def test_rules_are_fetched_once_an_hour(self):
        now = [0.0]
        with WebServer({"/robots.txt": text(RULES)}) as site:
            robots = RobotsCache(client(site), "Hopcheck", lambda: now[0])
            for path in "/", "/a", "/private":
                checked(robots, site.url(path))
            assert site.asked == ["/robots.txt"]
            now[0] = CACHE_SECONDS + 1
            checked(robots, site.url())
        assert site.asked == ["/robots.txt"] * 2

    def test_rules_are_kept_per_host_and_port(self):
        with WebServer({"/robots.txt": text(RULES)}) as site, WebServer({}) as other:
            robots = RobotsCache(client(site, other), "Hopcheck")
            assert checked(robots, site.url("/private")) and not checked(robots, other.url("/private"))
            assert checked(robots, site.url("/private", host="other.test"))
        assert (len(site.asked), len(other.asked)) == (2, 1)
