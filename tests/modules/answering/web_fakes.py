"""A scripted web: hits, the pages behind them, a document chooser and a reader."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.domain.errors import CallFailed
from app.domain.model import Answer, Page, Question, SearchHit, Span
from app.domain.ports import FreeAnswer

QUESTION = Question("When did the Eiffel Tower open?")


def hit(number: int, snippet: str = "", published: str | None = None, **fields) -> SearchHit:
    """Return the hit of that number, whose page is at https://siteN.example/page."""
    url = fields.pop("url", f"https://site{number}.example/page")
    title, site = fields.pop("title", f"Title {number}"), fields.pop("site", f"site{number}.example")
    return SearchHit(title, site, snippet, url, published)


def page(of: SearchHit, text: str, **fields) -> Page:
    """Return the page at the hit's URL."""
    said = {"url": of.url, "title": of.title, "site": of.site, "published": None} | fields
    return Page(text=text, **said)


@dataclass
class TableSearch:
    """A WebSearch that returns `found` for a listed query, and `usual` for any other. Records its queries."""

    usual: tuple[SearchHit, ...] = ()
    found: dict[str, tuple[SearchHit, ...]] = field(default_factory=dict)
    failure: Exception | None = None
    name: str = "table"
    destination: str | None = "search.example"
    asked: list[tuple[str, int, str | None]] = field(default_factory=list)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        self.asked.append((query, k, before))
        if self.failure:
            raise self.failure
        return self.found.get(query, self.usual)


@dataclass
class TablePages:
    """A PageReader over pages by URL; an unknown one fails."""

    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def read(self, hit: SearchHit) -> Page:
        self.asked.append(hit.url)
        if hit.url not in self.pages:
            raise CallFailed("The page could not be fetched (404).")
        return self.pages[hit.url]


@dataclass
class Takes:
    """A DocumentChooser that takes the n-th hit it is shown, or returns a free answer."""

    number: int = 1
    says: str = ""
    shown: list[tuple[SearchHit, ...]] = field(default_factory=list)

    def choose(self, question: Question, hits) -> SearchHit | FreeAnswer:
        self.shown.append(tuple(hits))
        return FreeAnswer(self.says) if self.says else hits[self.number - 1]


@dataclass
class FindsWord:
    """A Reader that answers with `word` when a passage contains it. Records its passages."""

    word: str = "1889"
    given: list[tuple] = field(default_factory=list)

    def read(self, question: Question, passages) -> Answer:
        self.given.append(tuple(passages))
        for passage in passages:
            at = passage.text.find(self.word)
            if at >= 0:
                return Answer(self.word, Span(passage, at, at + len(self.word)), tuple(passages), "fake", 0.9)
        return Answer(None, retrieved=tuple(passages), answerer="fake")
