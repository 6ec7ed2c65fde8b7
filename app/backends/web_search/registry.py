"""The configured search providers, tried in order."""

from __future__ import annotations

import logging
import re
import time as clocks
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import date, datetime, time
from functools import lru_cache, partial
from importlib import import_module
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from app.backends.fetch.html import fragment_of, paragraphs_of
from app.backends.http import HttpResult, RetryPolicy, destination_of, host_of, open_client, send
from app.backends.web_search.base import Fields, Limits, Provider, error_message, key_problem, no_results
from app.config.settings import SEARCHES
from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, cached_call, report_phase, report_problem, report_usage
from app.domain.messages import Code
from app.domain.model import CORPUS_SEARCH, SearchHit, Usage
from app.domain.ports import WebSearch
from app.text.clean import clean_line

# Publication dates, as ISO ("2026-09-01T08:00:00Z") or in the words of any language ("Sept 1, 2026", "vor 3 Tagen"),
# which dateparser reads. Time zones are ignored. What is inexact ("2 months ago", "2026", "03/04/2026") becomes the
# latest day that it can mean, so that evidence never seems older than it is.

MAX_DATE_CHARACTERS = 100
MAX_LANGUAGES = 45
"""The most used ones, in which dates are tried."""
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\d-])")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMBERS_READ = (4, 8, 10, 13)
"""Digits of a year, of a day without hyphens, and of Unix times in seconds and milliseconds."""
_NO_DATE = frozenset(("", "-", "n/a", "na", "none", "null", "unknown"))


def parse_date(raw: object, today: date) -> str | None:
    """Parse a provider's date to an ISO date; None when it cannot be parsed."""
    text = _date_text(raw)
    return _day(text, today) if text and len(text) <= MAX_DATE_CHARACTERS else None


def _date_text(raw: object) -> str:
    """Return what a field says about the date; "" for nothing."""
    is_said = isinstance(raw, str | int | float) and not isinstance(raw, bool)
    text = str(raw).strip() if is_said else ""
    return "" if text.casefold() in _NO_DATE else text


@lru_cache(maxsize=1024)
def _day(text: str, today: date) -> str | None:
    if (number := _NUMBER.fullmatch(text)) and len(text.partition(".")[0]) not in _NUMBERS_READ:
        return None
    with suppress(ValueError):
        return date.fromisoformat(iso[1] if (iso := _ISO.match(text)) else text).isoformat()
    if _ISO.match(text):
        return None
    from dateparser.data.languages_info import language_order

    text = text.partition(".")[0] if number else text
    found = [day for order in ("MDY", "DMY") if (day := _worded_day(text, today, order, ["en"]))]
    found = found or [day for day in (_worded_day(text, today, None, language_order[1:MAX_LANGUAGES]),) if day]
    return max(found).isoformat() if found else None


def _worded_day(text: str, today: date, order: str | None, languages: list[str]) -> date | None:
    import dateparser

    settings: dict[str, Any] = {
        "RELATIVE_BASE": datetime.combine(today, time(23, 59)),
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "last",
        "PREFER_MONTH_OF_YEAR": "last",
    }
    try:
        found = dateparser.parse(
            text, languages=languages, settings=settings | ({"DATE_ORDER": order} if order else {})
        )
    except (ValueError, OverflowError):
        return None
    return found.date() if found else None


# One page has many addresses: with and without www, tracking parameters, a default port or a fragment, and for AMP.

_AMP_CACHE = re.compile(
    r"^https?://(?:www\.google\.[a-z.]+/amp/|[\w-]+\.cdn\.ampproject\.org/(?:c|v|wp)/)(s/)?(?=\w)", re.IGNORECASE
)
_AMP_PATH = re.compile(r"(?:/amp|/amp\.html|\.amp|/index\.(?:html?|php|aspx?))\Z", re.IGNORECASE)
_AMP_PARAMETERS = frozenset((("amp", ""), ("amp", "1"), ("amp", "true"), ("outputtype", "amp"), ("output", "amp")))
_FIRST_LABELS = re.compile(r"^(?:(?:www\d?|amp|m|mobile)\.)+(?=[^.]+\.)|(?<=^[a-z]{2}\.)m\.(?=[^.]+\.)")


def page_key(url: str) -> str:
    """Return what the addresses of one page have in common."""
    from courlan.clean import TRACKERS_RE

    parts = urlsplit(_AMP_CACHE.sub("https://", url))
    host = (parts.hostname or "").rstrip(".")
    with suppress(UnicodeError):
        host = host.encode("idna").decode()
    port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
    path = _AMP_PATH.sub("", unquote(parts.path).rstrip("/")).rstrip("/")
    query = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if (name.casefold(), value.casefold()) not in _AMP_PARAMETERS and not TRACKERS_RE.search(name.lower())
    ]
    place = f"#{parts.fragment}" if parts.fragment[:1] in ("!", "/") else ""  # a page of an application
    return f"{_FIRST_LABELS.sub('', host)}{port}{path}?{urlencode(sorted(query))}{place}"


# Results -> hits: plain text, URLs of web pages, each page once.

MAX_TITLE_CHARACTERS = 300
MAX_SNIPPET_CHARACTERS = 2_000
MAX_URL_CHARACTERS = 2_000
MAX_RAW_CHARACTERS = 20_000
"""Limit of one text before cleaning, markup included."""
_STRIKE = re.compile(r"<(del|s|strike)>", re.IGNORECASE)
"""Struck-out text, or a word in angle brackets where no such tag ends."""


def parse_hits(listed: Iterable[Any], fields: Fields, today: date, before: str | None = None) -> Iterator[SearchHit]:
    """Yield the results that have a web page's URL, each page once. Missing or invalid fields are empty.

    With `before`, an ISO date, results of that day or later are left out, and those whose date cannot be parsed.
    """
    seen: set[str] = set()
    for result in listed:
        hit = _hit(result, fields, today) if isinstance(result, dict) else None
        if not hit or (before and not _is_before(hit, result, fields, before)):
            continue
        pages = {page_key(hit.url)}
        if hit.title and hit.snippet:  # the same under another query
            pages.add(f"{hit.url.partition('?')[0]} {hit.title} {hit.snippet}")
        if seen.isdisjoint(pages):
            yield hit
        seen |= pages


def _is_before(hit: SearchHit, result: Mapping[str, Any], fields: Fields, before: str) -> bool:
    """Return whether the hit is older than that day, or says nothing about its date."""
    if hit.published:
        return hit.published < before
    return not any(_date_text(result.get(name)) for name in fields.dates)


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
    line = text[:MAX_RAW_CHARACTERS] if isinstance(text, str) else ""
    if "<" in line or "&" in line:
        lower = line.lower()
        line = _STRIKE.sub(lambda tag: tag[0] if f"</{tag[1].lower()}>" in lower else " ", line)
        line = " ".join(paragraphs_of(fragment_of(line)))
    line = clean_line(line)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


MAX_REPLY_BYTES = 2_000_000
"""Limit of a decompressed reply. A hundred results with long snippets are a tenth of that."""


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

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return at most `k` hits, without those dated on or after `before` or unreadably. Raises CallFailed."""
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
        found = parse_hits(self._listed(self._fetched(request)), self._provider.fields, self._today(), before)
        return list(islice(found, k))

    def _fetched(self, request: dict[str, Any]) -> HttpResult:
        """Return a reply with status 200. Raises CallFailed for everything else."""
        if error := key_problem(self._provider):
            raise CallFailed(f"The search engine {self.title} {error}.")
        report_phase(Code.SEARCHING_WITH(engine=self.title))
        open_client()
        deadline, url = self._retry_policy.clock() + self._call_seconds, self._provider.url
        name, prefix = self._provider.key_header
        headers = {name: prefix + self._provider.api_key} if name else {}
        asked = partial(send, url=url, max_bytes=MAX_REPLY_BYTES, headers=headers, **request)
        outcome = self._retry_policy.run(lambda left: asked(seconds=left), deadline, host_of(url))
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
    """Return a search for each provider whose setting has a value. Raises SettingsError for a wrong URL."""
    found = ((provider, settings.get(provider.setting)) for provider in PROVIDERS)
    return tuple(ProviderSearch(provider(value), call_seconds) for provider, value in found if value)


log = logging.getLogger(__name__)

COOLDOWN_SECONDS = 300.0
"""Time for which a failed engine is tried last, so that a run does not wait for it at every hop."""


class FailoverSearch:
    """Implements `WebSearch` over several engines; `destination` names every host that may get a query."""

    def __init__(self, searches: Sequence[WebSearch], clock: Callable[[], float] = clocks.monotonic) -> None:
        """Create the search. `searches` holds at least one; `clock` returns seconds."""
        self.name = searches[0].name
        self.destination = " or ".join(dict.fromkeys(each.destination for each in searches if each.destination)) or None
        self._searches = tuple(searches)
        self._clock = clock
        self._failed_at: dict[str, float] = {}

    @staticmethod
    def load() -> None:
        """Import what reads the results, which takes about a second; a search does so too if nobody did."""
        import courlan.clean  # noqa: F401
        import dateparser  # noqa: F401
        import lxml.html  # noqa: F401

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return the hits of the first engine that answers. Raises CallFailed with every reason when none does."""
        reasons: list[str] = []
        resting = [name for name, at in self._failed_at.copy().items() if self._clock() - at < COOLDOWN_SECONDS]
        for engine in sorted(self._searches, key=lambda each: each.name in resting):
            try:
                found = engine.search(query, k, before)
            except CallFailed as failure:
                reasons.append(str(failure))
                self._failed_at[engine.name] = self._clock()
                log.warning("%s", failure)
                if len(reasons) < len(self._searches):
                    report_problem(Code.OTHER_ENGINE_ASKED(problem=str(failure)))
            else:
                self._failed_at.pop(engine.name, None)
                return found
        raise CallFailed(" ".join(reasons))


def with_failover(searches: Sequence[WebSearch]) -> dict[str, FailoverSearch]:
    """Map each engine's name to a search that tries it first and then the others."""
    return {
        first.name: FailoverSearch([first, *(each for each in searches if each is not first)]) for first in searches
    }
