"""A small MediaWiki on this machine: a real server that answers like the Action API, as its documentation shows.

with MediaWikiServer(Article("Kyoto", (Edit(7, "2020-01-02", "Kyoto is a city."),))) as wiki:
    wikipedia(wiki).retrieve("Where is Kyoto?", 5)
    assert wiki.requests[0]["generator"] == "search"
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from app.backends.corpus.wikipedia import MediaWiki, Wikipedia
from app.backends.http import RetryPolicy
from tests.web_server import Sent, WebServer, client

Query = Mapping[str, str]
JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Edit:
    """A revision: its number, the day at noon on which it was made, and its paragraphs."""

    number: int
    day: str
    text: str

    @property
    def time(self) -> str:
        return f"{self.day}T12:00:00Z"


@dataclass(frozen=True)
class Article:
    """A page: its revisions, oldest first, and its redirects. One that `is_deleted` is found and is missing."""

    title: str
    edits: tuple[Edit, ...]
    redirects: tuple[str, ...] = ()
    is_disambiguation: bool = False
    is_deleted: bool = False


def failure(code: str, info: str, **headers: str) -> Sent:
    """Return an error as the API sends it: with status 200."""
    body = {"error": {"code": code, "info": info, "docref": "See /w/api.php for API usage."}, "servedby": "mw1"}
    return Sent(json.dumps(body).encode(), JSON, headers={"MediaWiki-API-Error": code, **headers})


LAGGED = failure("maxlag", "Waiting for db1: 7.3 seconds lagged.", **{"Retry-After": "3"})


class MediaWikiServer(WebServer):
    """Serves the articles. `requests` holds the parameters of each request; `broken` may answer in its place."""

    def __init__(self, *articles: Article) -> None:
        super().__init__({})
        self.articles = articles
        self.broken: Callable[[Query], Sent | None] = lambda query: None
        self.requests: list[Query] = []

    def reply_to(self, path: str, headers: Mapping[str, str]) -> Sent:
        super().reply_to(path, headers)
        query = dict(parse_qsl(urlsplit(path).query))
        self.requests.append(query)
        if sent := self.broken(query):
            return sent
        if urlsplit(path).path != "/w/api.php" or query.get("formatversion") != "2" or query.get("format") != "json":
            return Sent(b"<p>This is the API's help.</p>")
        return Sent(json.dumps(self._answer(query)).encode(), JSON)

    def _answer(self, query: Query) -> Any:
        if query["action"] == "parse":
            return self._parsed(int(query["oldid"]))
        if query.get("generator") == "search":
            found = self._found(query["gsrsearch"])[: int(query["gsrlimit"])]
            pages = [self._page(each, query) | {"index": place} for place, each in enumerate(found, 1)]
            # The API sorts by page, not by rank, and leaves `query` out where nothing was found.
            return {"batchcomplete": True} | (
                {"query": {"pages": sorted(pages, key=lambda page: page["title"])}} if pages else {}
            )
        asked = query["titles"].split("|")
        redirects = {old: each for each in self.articles for old in each.redirects}
        known = {each.title: each for each in self.articles} | redirects
        pages = [self._page(known[title], query) if title in known else missing(title) for title in asked]
        moved = [{"from": title, "to": redirects[title].title} for title in asked if title in redirects]
        return {"batchcomplete": True, "query": {"redirects": moved, "pages": pages}}

    def _found(self, search: str) -> list[Article]:
        words = [word for word in search.casefold().split() if word != "or"]

        def count(article: Article) -> int:
            text = f"{article.title} {article.edits[-1].text}".casefold()
            return sum(bool(re.search(rf"\b{re.escape(word)}", text)) for word in words)

        least = 1 if " OR " in search else len(words)
        return sorted((each for each in self.articles if count(each) >= least), key=lambda each: -count(each))

    def _page(self, article: Article, query: Query) -> dict[str, Any]:
        if article.is_deleted:
            return missing(article.title)
        edits = [each for each in article.edits if each.time <= query.get("rvstart", "9999")]
        page: dict[str, Any] = {"pageid": article.edits[0].number * 10, "ns": 0, "title": article.title}
        if edits:
            page["revisions"] = [{"revid": edits[-1].number, "parentid": 0, "timestamp": edits[-1].time}]
        if article.is_disambiguation and "pageprops" in query["prop"]:
            page["pageprops"] = {"disambiguation": ""}
        if "extracts" in query["prop"]:
            assert "explaintext" not in query  # the API's plain text joins superscripts to numbers
            lines = [line for line in article.edits[-1].text.splitlines() if line]
            page["extract"] = "".join(
                f"<h2>{ln.strip('= ')}</h2>" if ln[0] == "=" else f"<p>{ln}\n</p>" for ln in lines
            )
        return page

    def _parsed(self, number: int) -> Any:
        for article in self.articles:
            for edit in article.edits:
                if edit.number == number:
                    return {"parse": {"title": article.title, "revid": number, "text": _html(edit.text)}}
        return {"error": {"code": "nosuchrevid", "info": f"There is no revision with ID {number}."}}


def missing(title: str) -> dict[str, Any]:
    return {"ns": 0, "title": title, "missing": True}


def _html(text: str) -> str:
    note = '<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span>[</span>1<span>]</span></a></sup>'
    paragraphs = "".join(f"<p>{line}{note}\n</p>" for line in text.splitlines() if line and not line.startswith("="))
    return f'<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">{paragraphs}</div>'


def wikipedia(server: MediaWikiServer, seconds: float = 20, language: str = "en", **more: Any) -> Wikipedia:
    """Return Wikipedia at this server, with a clock that stands still and waits that take no time."""
    slept = more.pop("slept", [])
    policy = RetryPolicy(clock=lambda: 0.0, sleep=slept.append, jitter=lambda: 0.0)
    wiki = MediaWiki(server.url("/w/api.php"), client(server, **more), seconds, policy)
    return Wikipedia(wiki, language, today=lambda: date(2026, 11, 23))
