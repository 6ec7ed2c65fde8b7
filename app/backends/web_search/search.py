"""A search at any of the providers: the query cut to its limits, asked in time, remembered, and cleaned."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from html import unescape
from typing import Any
from urllib.parse import urldefrag, urlsplit

from app.backends.http import HttpResult, RetryPolicy, destination_of, host_of
from app.backends.web_search.base import (
    Fields,
    Limits,
    Provider,
    SearchRequest,
    SearchTransport,
    error_message,
    key_problem,
    no_results,
)
from app.domain.calls import Call, cached_call
from app.domain.errors import CallFailed
from app.domain.model import SearchHit, Usage
from app.domain.progress import entered, used

# When a search provider says that a page was published, as an ISO date, in the forms that the four providers use.
#
#     2026-09-01, 2026-09-01T08:00:00Z          SearXNG, Brave (page_age), Tavily
#     Tue, 01 Sep 2026 08:00:00 GMT             Tavily, for news
#     September 1, 2026; Sep 1, 2026; 1 Sep 2026  Brave (age), Serper
#     3 days ago, an hour ago                   Brave (age), Serper
#
# The day is taken as it is written, in whatever zone. An age is the latest day that it can mean: "2 months ago" tells
# no day, and evidence must not seem older than it is.

_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\d-])")
_AGO = re.compile(r"(\d{1,4}|an?|one)\s+(second|sec|minute|min|hour|day|week|month|year)s?\s+ago", re.IGNORECASE)
_RFC = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4}\b")
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0, "hour": 1 / 24}
_WRITTEN = ("%B %d, %Y", "%b %d, %Y", "%d %b %Y", "%d %B %Y")
MAX_DATE_CHARACTERS = 100
"""Characters; a date is no longer."""


def parse_date(said: object, today: date) -> str | None:
    """The ISO date in what a provider says, None when it says none that can be read."""
    text = said.strip() if isinstance(said, str) else ""
    if not text or len(text) > MAX_DATE_CHARACTERS:
        return None
    try:
        return _day(text, today).isoformat()
    except (ValueError, OverflowError):
        return None


def _day(text: str, today: date) -> date:
    """Raises ValueError or OverflowError when the text is no date."""
    if iso := _ISO.match(text):
        return date.fromisoformat(iso[1])
    if ago := _AGO.fullmatch(text):
        many = int(ago[1]) if ago[1].isdecimal() else 1
        return today - timedelta(days=int(many * _DAYS.get(ago[2].lower(), 0.0)))
    if _RFC.match(text):
        return parsedate_to_datetime(text).date()
    for form in _WRITTEN:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValueError(text)


# What a provider lists -> hits that can be shown and read: plain text, addresses of web pages, each page once.

MAX_TITLE_CHARACTERS = 300
MAX_SNIPPET_CHARACTERS = 2_000
MAX_URL_CHARACTERS = 2_000
MAX_RAW_CHARACTERS = 20_000
"""What is looked at of one text, markup included."""

# No pattern looks past the next "<", and none gives back what it took: a parser of HTML needs half a minute for
# twenty thousand characters that are made to hurt it.
_HIDDEN = re.compile(
    r"<(script|style|template|noscript|title)\b[^<>]*>.*?(?:</\1[^<>]*>|\Z)", re.DOTALL | re.IGNORECASE
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[/!?]?([a-zA-Z]\w*|\[)[^<>]*>")
_IN_A_WORD = frozenset({"b", "strong", "em", "i", "mark", "span", "a", "u", "wbr"})
"""Tags that may stand in the middle of a word; the others part words."""
_JOINERS = frozenset("\u200c\u200d")
"""Format characters that some scripts cannot be written without."""


def parse_hits(listed: Iterable[Any], fields: Fields, today: date) -> Iterator[SearchHit]:
    """The results that lead to a web page, in their order, each address once. What is missing or odd is left empty."""
    seen = set()
    for result in listed:
        hit = _hit(result, fields, today) if isinstance(result, dict) else None
        if hit and (page := urldefrag(hit.url).url.rstrip("/")) not in seen:
            seen.add(page)
            yield hit


def _hit(result: Mapping[str, Any], fields: Fields, today: date) -> SearchHit | None:
    url = result.get(fields.url)
    site = site_of(url) if isinstance(url, str) else ""
    if not isinstance(url, str) or not site:
        return None
    dates = (parse_date(result.get(name), today) for name in fields.dates)
    return SearchHit(
        title=plain_text(result.get(fields.title), MAX_TITLE_CHARACTERS),
        site=site,
        snippet=plain_text(result.get(fields.snippet), MAX_SNIPPET_CHARACTERS),
        url=url,
        published=next((day for day in dates if day), None),
    )


def site_of(url: str) -> str:
    """The host of a web page, without www.; "" for an address that is none, or that holds a name or password."""
    if len(url) > MAX_URL_CHARACTERS or not url.isprintable() or " " in url:
        return ""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError where it is no port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or "@" in parts.netloc:
        return ""
    return (parts.hostname or "").removeprefix("www.")


def plain_text(text: object, most: int) -> str:
    """One line of at most `most` characters, without markup and without what cannot be seen; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    shown = _COMMENT.sub("", _HIDDEN.sub(" ", text[:MAX_RAW_CHARACTERS]))
    shown = unescape(_TAG.sub(lambda tag: "" if tag[1].lower() in _IN_A_WORD else " ", shown))
    line = " ".join("".join(map(_seen, shown)).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _seen(character: str) -> str:
    """The character itself; a space for a control character, nothing for one that only changes how others look."""
    category = unicodedata.category(character)
    if category == "Cf":
        return character if character in _JOINERS else ""
    return " " if category in ("Cc", "Cs", "Co", "Cn") else character


class ProviderSearch:
    """Implements `WebSearch` with one provider. Safe to share between threads; keep one for the life of the process."""

    def __init__(
        self,
        provider: Provider,
        call_seconds: float,
        retry_policy: RetryPolicy | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        """`call_seconds` is the most that one search takes, waits and further tries included."""
        self.name = provider.name
        self.title = provider.title
        self.destination = destination_of(provider.url)
        self._provider = provider
        self._call_seconds = call_seconds
        self._retry_policy = retry_policy or RetryPolicy()
        self._today = today
        self._transport = SearchTransport(provider.url)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """At most `k` hits, none of which is known to be published on the day `before` or later. Raises CallFailed.

        A query without any words is not sent and finds nothing. A search counts as one call.
        """
        words = shorten_query(query, self._provider.limits)
        if not words:
            return ()
        request = {"query": words, "k": k, "before": before}
        call = Call(f"{self._provider.name} at {self._provider.url}", request, costly=True)
        found = cached_call(call, lambda: [asdict(hit) for hit in self._found(words, k, before)])
        return tuple(SearchHit(**hit) for hit in found)

    def _found(self, words: str, k: int, before: str | None) -> list[SearchHit]:
        """Hits as they are made from the reply: an age is counted from the day on which it was told."""
        limits = self._provider.limits
        build_request = self._provider.build_request(
            words, min(k, limits.hits), date.fromisoformat(before) if before else None
        )
        found = parse_hits(self._listed(self._fetched(build_request)), self._provider.fields, self._today())
        return [hit for hit in found if not (before and hit.published and hit.published >= before)][:k]

    def _fetched(self, build_request: SearchRequest) -> HttpResult:
        """The reply with status 200. Raises CallFailed for everything else."""
        if error := key_problem(self._provider):
            raise CallFailed(f"The search engine {self.title} {error}.")
        entered(f"searching with {self.title}")
        self._transport.open()
        deadline = self._retry_policy.clock() + self._call_seconds
        outcome = self._retry_policy.run(
            partial(self._transport.ask, build_request), deadline, host_of(self._provider.url)
        )
        if outcome.status != 200:
            raise CallFailed(error_message(outcome, self._provider, self._call_seconds))
        used(Usage(calls=1))
        return outcome

    def _listed(self, outcome: HttpResult) -> list[Any]:
        """The results in a reply. Raises CallFailed when it is something else."""
        body = outcome.body
        listed = self._provider.results(body) if isinstance(body, dict) else None
        if not isinstance(listed, list):
            raise CallFailed(no_results(outcome, self._provider))
        return listed


def shorten_query(query: str, limits: Limits) -> str:
    """The query on one line, cut at the end of the last word that fits, or inside a word that alone is too long."""
    words = " ".join(query.split()[: limits.words])
    if len(words) <= limits.characters:
        return words
    kept, _, _ = words[: limits.characters + 1].rpartition(" ")
    return kept or words[: limits.characters]
