"""The configured search providers, tried in order."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from importlib import import_module
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
from app.config.settings import SEARCHES
from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, cached_call, report_phase, report_problem, report_usage
from app.domain.model import CORPUS_SEARCH, SearchHit, Usage
from app.domain.ports import WebSearch
from app.text.wording import visible_text

# Publication dates in the forms that providers use:
#
#     2026-09-01, 2026-09-01T08:00:00Z          SearXNG, Brave (page_age), Tavily
#     Tue, 01 Sep 2026 08:00:00 GMT             Tavily, for news
#     September 1, 2026; Sep 1, 2026; 1 Sep 2026  Brave (age), Serper
#     3 days ago, an hour ago                   Brave (age), Serper
#
# Time zones are ignored. An age becomes the latest day that it can mean, so that evidence never seems older than it is.

_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\d-])")
_AGO = re.compile(r"(\d{1,4}|an?|one)\s+(second|sec|minute|min|hour|day|week|month|year)s?\s+ago", re.IGNORECASE)
_RFC_2822 = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4}\b")
_DAYS_PER_UNIT = {"day": 1.0, "week": 7.0, "month": 28.0, "year": 365.0, "hour": 1 / 24}
_DATE_FORMATS = ("%B %d, %Y", "%b %d, %Y", "%d %b %Y", "%d %B %Y")
MAX_DATE_CHARACTERS = 100


def parse_date(raw: object, today: date) -> str | None:
    """Parse a provider's date to an ISO date; None when it cannot be parsed."""
    text = raw.strip() if isinstance(raw, str) else ""
    if not text or len(text) > MAX_DATE_CHARACTERS:
        return None
    try:
        return _day(text, today).isoformat()
    except (ValueError, OverflowError):
        return None


def _day(text: str, today: date) -> date:
    """Parse a date or an age. Raises ValueError or OverflowError when the text is neither."""
    if iso := _ISO.match(text):
        return date.fromisoformat(iso[1])
    if ago := _AGO.fullmatch(text):
        count = int(ago[1]) if ago[1].isdecimal() else 1
        return today - timedelta(days=int(count * _DAYS_PER_UNIT.get(ago[2].lower(), 0.0)))
    if _RFC_2822.match(text):
        return parsedate_to_datetime(text).date()
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValueError(text)


# Results -> hits: plain text, URLs of web pages, each page once.

MAX_TITLE_CHARACTERS = 300
MAX_SNIPPET_CHARACTERS = 2_000
MAX_URL_CHARACTERS = 2_000
MAX_RAW_CHARACTERS = 20_000
"""Limit of one text before cleaning, markup included."""


def parse_hits(listed: Iterable[Any], fields: Fields, today: date) -> Iterator[SearchHit]:
    """Yield the results that have a web page's URL, each URL once. Missing or invalid fields are empty."""
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
    """Return the host of a web page's URL without www.; "" for an invalid URL or one with credentials."""
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


def plain_text(text: object, limit: int) -> str:
    """Return one line of at most `limit` characters without markup and invisible characters; "" for a non-string."""
    line = visible_text(text[:MAX_RAW_CHARACTERS]) if isinstance(text, str) else ""
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


class ProviderSearch:
    """Implements `WebSearch` with one provider. Thread-safe; keep one per process."""

    def __init__(
        self,
        provider: Provider,
        call_seconds: float,
        retry_policy: RetryPolicy | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        """`call_seconds` limits one search, including waits and retries."""
        self.name = provider.name
        self.title = provider.title
        self.destination = destination_of(provider.url)
        self._provider = provider
        self._call_seconds = call_seconds
        self._retry_policy = retry_policy or RetryPolicy()
        self._today = today
        self._transport = SearchTransport(provider.url)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return at most `k` hits, without those known to be published on or after `before`. Raises CallFailed.

        An empty query is not sent. A search counts as one call.
        """
        words = shorten_query(query, self._provider.limits)
        if not words:
            return ()
        request = {"query": words, "k": k, "before": before}
        call = Call(f"{self._provider.name} at {self._provider.url}", request, costly=True)
        found = cached_call(call, lambda: [asdict(hit) for hit in self._found(words, k, before)])
        return tuple(SearchHit(**hit) for hit in found)

    def _found(self, words: str, k: int, before: str | None) -> list[SearchHit]:
        """Parse the hits before caching: ages ("3 days ago") are relative to the day of the reply."""
        limits = self._provider.limits
        day = date.fromisoformat(before) if before else None
        request = self._provider.build_request(words, min(k, limits.hits), day)
        found = parse_hits(self._listed(self._fetched(request)), self._provider.fields, self._today())
        return [hit for hit in found if not (before and hit.published and hit.published >= before)][:k]

    def _fetched(self, request: SearchRequest) -> HttpResult:
        """Return a reply with status 200. Raises CallFailed for everything else."""
        if error := key_problem(self._provider):
            raise CallFailed(f"The search engine {self.title} {error}.")
        report_phase(f"searching with {self.title}")
        self._transport.open()
        deadline = self._retry_policy.clock() + self._call_seconds
        outcome = self._retry_policy.run(partial(self._transport.send, request), deadline, host_of(self._provider.url))
        if outcome.status != 200:
            raise CallFailed(error_message(outcome, self._provider, self._call_seconds))
        report_usage(Usage(calls=1))
        return outcome

    def _listed(self, outcome: HttpResult) -> list[Any]:
        """Return the results in a reply. Raises CallFailed when it holds none."""
        body = outcome.parsed
        listed = self._provider.results(body) if isinstance(body, dict) else None
        if not isinstance(listed, list):
            raise CallFailed(no_results(outcome, self._provider))
        return listed


def shorten_query(query: str, limits: Limits) -> str:
    """Return the query on one line, cut after the last word that fits, or within a first word that is too long."""
    words = " ".join(query.split()[: limits.words])
    if len(words) <= limits.characters:
        return words
    kept, _, _ = words[: limits.characters + 1].rpartition(" ")
    return kept or words[: limits.characters]


PROVIDERS: tuple[type[Any], ...] = tuple(
    import_module(f"app.backends.web_search.{name}").PROVIDER for name in SEARCHES if name != CORPUS_SEARCH
)
"""The class of every supported provider, in the default order."""


def configured_searches(settings: Mapping[str, str | None], call_seconds: float) -> tuple[ProviderSearch, ...]:
    """Return a search for each provider whose setting (SEARXNG_URL, BRAVE_API_KEY, ...) has a value.

    Raises SettingsError for an invalid URL. Keys are checked when they are used.
    """
    found = ((provider, settings.get(provider.setting)) for provider in PROVIDERS)
    return tuple(ProviderSearch(provider(value), call_seconds) for provider, value in found if value)


log = logging.getLogger(__name__)

COOLDOWN_SECONDS = 300.0
"""Time for which a failed engine is tried last, so that a run does not wait for it at every hop."""


class FailoverSearch:
    """Implements `WebSearch` over several engines: tries the next one when one fails, and reports the failures.

    `name` is the first engine's; `destination` names every host that may receive a query.
    """

    def __init__(self, searches: Sequence[WebSearch], clock: Callable[[], float] = time.monotonic) -> None:
        """Create the search. `searches` holds at least one; `clock` returns seconds."""
        self.name = searches[0].name
        self.destination = " or ".join(dict.fromkeys(each.destination for each in searches if each.destination)) or None
        self._searches = tuple(searches)
        self._clock = clock
        self._failed: dict[int, float] = {}
        self._lock = threading.Lock()

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return the hits of the first engine that answers. Raises CallFailed with every reason when none does."""
        reasons = []
        order = self._order()
        for at in order:
            try:
                found = self._searches[at].search(query, k, before)
            except CallFailed as failure:
                reasons.append(str(failure))
                self._record(at, failed=True)
                log.warning("%s", failure)
                if at != order[-1]:
                    report_problem(f"{failure} Another search engine was asked instead.")
            else:
                self._record(at, failed=False)
                return found
        raise CallFailed(" ".join(reasons))

    def _order(self) -> list[int]:
        """Return the indices of the engines, those that failed recently last."""
        with self._lock:
            now = self._clock()
            resting = {at for at, since in self._failed.items() if now - since < COOLDOWN_SECONDS}
        return sorted(range(len(self._searches)), key=lambda at: at in resting)

    def _record(self, at: int, failed: bool) -> None:
        with self._lock:
            if failed:
                self._failed[at] = self._clock()
            else:
                self._failed.pop(at, None)


def with_failover(searches: Sequence[WebSearch]) -> dict[str, FailoverSearch]:
    """Map each engine's name to a search that tries it first and then the others."""
    return {
        first.name: FailoverSearch([first, *(each for each in searches if each is not first)]) for first in searches
    }
