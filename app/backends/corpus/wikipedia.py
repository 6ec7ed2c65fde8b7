"""Wikipedia, live: articles as they are today, or as they were before a day, through the MediaWiki Action API.

https://www.mediawiki.org/wiki/API:Etiquette asks for one request at a time, `maxlag`, compression and a User-Agent with
a contact. The API's replies have no ETag, so texts are cached by the number of their revision, which a search tells.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from app.backends.corpus.formats import passages_of
from app.backends.fetch.html import HEADINGS, fragment_of, paragraphs_of, read_html
from app.backends.fetch.pages import PRODUCT_TOKEN
from app.backends.fetch.safe_http import MAX_WAIT_SECONDS, Budget, FetchLimiter, GuardedHttp
from app.backends.fetch.sandbox import UnreadableSource
from app.backends.http import HttpResult, RetryPolicy, quoted
from app.config import VERSION
from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, cached_call, check_cancelled, report_phase, report_problem, report_usage
from app.domain.messages import Code
from app.domain.model import Origin, Passage, Usage
from app.text.clean import clean_line
from app.text.sentences import is_common_word
from app.text.wording import names, stems, word_lists

LIVE = "wikipedia-live"
"""The name of live Wikipedia among the corpora."""
OFF = "off"
"""The value of the setting WIKIPEDIA that turns the source off."""
HOST = "{}.wikipedia.org"
"""The host by the code of a language."""
LICENCE = "CC BY-SA 4.0"

REQUEST_SECONDS = 20.0
MAX_REPLY_BYTES = 8 * 1024**2
ALWAYS = {"format": "json", "formatversion": "2", "maxlag": "5"}
"""Parameters of every request; `maxlag` lets a server that lags behind refuse it."""
BUSY = ("maxlag", "ratelimited", "readonly")
"""Error codes of the API after which the same request may succeed."""
GONE = ("missingtitle", "nosuchrevid", "missingcontent", "permissiondenied")
"""Error codes of the API for a page or a revision that was deleted."""


def live_wikipedia(language: str, contact: str | None, call_seconds: float, locks: Path) -> Wikipedia | None:
    """Return Wikipedia in that language, None where it is OFF. Processes share the folder `locks`."""
    # In the form for which https://meta.wikimedia.org/wiki/User-Agent_policy asks.
    agent = f"{PRODUCT_TOKEN}/{VERSION} ({contact or 'checks claims; its operator named no contact'})"
    http = GuardedHttp(agent, accept="application/json", limiter=SharedLimiter(locks))
    address = f"https://{HOST.format(language)}/w/api.php"
    return Wikipedia(MediaWiki(address, http, call_seconds), language) if language != OFF else None


class SharedLimiter(FetchLimiter):
    """Allows one request at a time per site in all processes that use the same folder for locks."""

    def __init__(self, folder: Path, wait_seconds: float = MAX_WAIT_SECONDS) -> None:
        super().__init__(wait_seconds=wait_seconds)
        self._folder = folder

    @contextmanager
    def slot(self, site: str) -> Iterator[None]:
        """Hold the site's slot in this process and its lock file inside the block. Raises as the base class does."""
        from filelock import FileLock, Timeout

        with super().slot(site):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._folder / f"{site}.lock", timeout=self._wait_seconds)
            try:
                held = lock.acquire()
            except Timeout:
                raise CallFailed(f"{site} was not asked: another process was still asking it.") from None
            with held:
                check_cancelled()  # the wait may have been long
                yield


class MediaWiki:
    """Client for the Action API of one wiki. Thread-safe; `http` limits how many requests the host gets at a time."""

    def __init__(
        self, api: str, http: GuardedHttp, call_seconds: float, retry_policy: RetryPolicy | None = None
    ) -> None:
        """Use the api.php at `api`; `call_seconds` limits one request with its retries, not the wait for its turn."""
        self.api, self.host = api, urlsplit(api).hostname or ""
        self._http, self._call_seconds = http, call_seconds
        self._retry_policy = retry_policy or RetryPolicy()

    def ask(self, **parameters: str) -> dict[str, Any]:
        """Return the reply to a request; {} for a deleted page. Raises CallFailed, with the host in its message."""
        url = f"{self.api}?{urlencode(ALWAYS | parameters)}"
        deadline = self._retry_policy.clock() + self._call_seconds
        try:
            outcome = self._retry_policy.run(partial(self._request, url), deadline, self.host)
        except CallFailed as error:
            message = f"Wikipedia could not be asked. {error} The sources on this machine need no network."
            raise CallFailed(message) from error
        body = outcome.parsed
        if outcome.status == 200 and isinstance(body, dict) and "error" not in body:
            return body
        if _error(body).get("code") in GONE:
            return {}
        raise CallFailed(_failure(self.host, outcome))

    def _request(self, url: str, seconds: float) -> HttpResult:
        outcome = self._http.get(
            url,
            Budget(min(seconds, REQUEST_SECONDS)),
            limit=MAX_REPLY_BYTES,
            kinds=("application/json",),
            check_allowed=self._check_host,
        )
        return replace(outcome, status=503) if _error(outcome.parsed).get("code") in BUSY else outcome

    def _check_host(self, url: str) -> None:
        """Refuse a redirect to another host: users were shown only this one."""
        if (host := urlsplit(url).hostname) != self.host:
            raise CallFailed(f"{self.host} redirects to {host}, which was not asked.")


def _error(body: Any) -> dict[str, Any]:
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _failure(host: str, outcome: HttpResult) -> str:
    if outcome.timed_out:
        return f"Wikipedia at {host} did not answer in time."
    if outcome.status in (429, 503):
        return f"Wikipedia at {host} is too busy just now; try again in a minute."
    if outcome.status == 403:
        return f"Wikipedia at {host} refuses requests from here; the setting CONTACT tells it whom to write to."
    if info := _error(outcome.parsed).get("info"):
        return f'Wikipedia at {host} turned the request down: "{quoted(str(info), None)}".'
    return f"Wikipedia at {host} did not send a reply that can be read ({outcome.status})."


# Queries. CirrusSearch, the search of Wikipedia, wants every word of a query in the article. So function words are left
# out, and if nothing has all the others, articles with some of them are taken. Articles whose titles are names in the
# query come first, since the search may rank them low.

MAX_QUERY_CHARACTERS = 300
"""CirrusSearch refuses longer queries."""
MAX_HITS, MAX_NAMES = 10, 4
MAX_ARTICLES = 5
"""Articles whose texts are read for one query."""

_WORD = re.compile(r"[^\W_]+(?:[-'’&][^\W_]+)*")
_NOT_IN_TITLES = re.compile(r"[|#<>\[\]{}_]")


def search_query(text: str, operator: str = " ") -> str:
    """Return the content words of `text`, each once, in MAX_QUERY_CHARACTERS."""
    found = (word for word in _WORD.findall(text) if word.casefold() not in word_lists()["functional"])
    query = ""
    for word in dict.fromkeys(found):
        longer = f"{query}{operator}{word}" if query else word
        if len(longer) > MAX_QUERY_CHARACTERS:
            break
        query = longer
    return query


def titles_in(text: str) -> list[str]:
    """Return the names in `text` that may be titles of articles."""
    found = (" ".join(_NOT_IN_TITLES.sub(" ", name).split()) for name in names(text))
    return [name for name in found if name and not is_common_word(name)][:MAX_NAMES]


@dataclass(frozen=True, slots=True)
class Revision:
    title: str
    number: int
    day: str  # ISO date of the edit
    is_current: bool = True


def _pages(reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
    query = reply.get("query")
    pages = query.get("pages") if isinstance(query, dict) else None
    found = [page for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []
    yield from sorted(found, key=lambda page: page["index"] if isinstance(page.get("index"), int) else 0)


def _revision(page: dict[str, Any]) -> Revision | None:
    """Return the revision of a page in a reply; None for a missing or invalid page and for a disambiguation."""
    found, properties = page.get("revisions"), page.get("pageprops")
    first = found[0] if isinstance(found, list) and found else None
    if not isinstance(first, dict) or (isinstance(properties, dict) and "disambiguation" in properties):
        return None
    title, number, day = page.get("title"), first.get("revid"), str(first.get("timestamp"))[:10]
    return Revision(clean_line(title), number, day) if isinstance(title, str) and isinstance(number, int) else None


_TABLE_ROW = re.compile(r"^\|.*$", re.MULTILINE)
"""A row of a table in the text of an old revision."""
MAX_ARTICLE_CHARACTERS = 200_000
MAX_EXTRACT_CHARACTERS = 2 * MAX_ARTICLE_CHARACTERS
"""Of an article in the API's HTML, which has few tags."""
PARSE_SECONDS = 15.0
LEADS = 3
"""Articles whose first passage is put among the best: every second passage at the top is one of them."""


@lru_cache(maxsize=64)
def _passages(text: str) -> tuple[str, ...]:
    return tuple(passages_of(text[:MAX_ARTICLE_CHARACTERS].splitlines()))


def ranked(texts: Sequence[str], query: str) -> list[int]:
    """Return the indexes of `texts`, best first, by the summed rarity of the query's words that each contains."""
    wanted = stems(query)
    found = [wanted & stems(text) for text in texts]
    text_counts = Counter(chain.from_iterable(found))
    weight = {word: math.log(1 + len(texts) / count) for word, count in text_counts.items()}
    return sorted(range(len(texts)), key=lambda at: -sum(weight[word] for word in found[at]))


class Wikipedia:
    """Implements `Retriever` over the articles that a search of Wikipedia finds. Thread-safe."""

    def __init__(
        self, wiki: MediaWiki, language: str = "en", today: Callable[[], date] = lambda: datetime.now(UTC).date()
    ) -> None:
        self._wiki, self._today = wiki, today
        self._name = "Wikipedia" if language == "en" else f"Wikipedia ({language})"
        self.host = wiki.host

    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]:
        """Return the k best passages of the articles found; their URLs lead to the revisions that were read.

        With `before`, the last revision of each article before that day is read. Raises CallFailed when Wikipedia
        cannot be asked.
        """
        if k < 1:
            return ()
        articles = self._articles(query, before)
        read = [(article, _passages(self._text(article))) for article in articles]
        passages = [self._passage(article, text) for article, texts in read for text in texts]
        order = ranked([f"{each.title} {each.text}" for each in passages], query)
        leads = [self._passage(article, texts[0]) for article, texts in read if texts][:LEADS]
        in_turn = chain.from_iterable(zip_longest(leads, (passages[at] for at in order)))
        return tuple({each.text: each for each in in_turn if each}.values())[:k]

    def article(self, title: str, text: str, url: str) -> str | None:
        """Return the text of the revision that `url` names; None for the address of another site or no text."""
        number = parse_qs(urlsplit(url).query).get("oldid", [""])[0]
        if urlsplit(url).hostname != self.host or not number.isdecimal():
            return None
        return self._text(Revision(title, int(number), "", False))[:MAX_ARTICLE_CHARACTERS] or None

    def _articles(self, query: str, before: str | None) -> list[Revision]:
        """Return the revisions to read. A repeated search is answered from the stored replies until the day ends."""
        request = {"api": self._wiki.api, "query": query, "before": before, "on": self._today().isoformat()}
        call = Call("Wikipedia search, version 1", request, costly=True)
        found = cached_call(call, lambda: [asdict(each) for each in self._found(query, before)])
        return [Revision(**each) for each in found]

    def _found(self, query: str, before: str | None) -> list[Revision]:
        report_phase(Code.SEARCHING(where=self.host))
        titles = titles_in(query)
        by_title = self._revisions(titles="|".join(titles), redirects="1") if titles else []
        by_text: list[Revision] = []
        for words in dict.fromkeys((search_query(query), search_query(query, " OR "))):
            if words and not by_text:
                search = {"gsrsearch": words, "gsrlimit": str(MAX_HITS), "gsrnamespace": "0"}
                by_text = self._revisions(generator="search", **search)
        found: Iterable[Revision | None] = dict.fromkeys([*by_title, *by_text])
        if before:
            # One request for each, so that no more are made than needed.
            found = (self._before(each, date.fromisoformat(before)) for each in found if each)
        return list(islice(filter(None, found), MAX_ARTICLES))

    def _revisions(self, **pages: str) -> list[Revision]:
        return self._query(prop="revisions|pageprops", ppprop="disambiguation", **pages)

    def _before(self, article: Revision, day: date) -> Revision | None:
        """Return the last revision before that day; None if the article is younger."""
        if article.day < day.isoformat():
            return article
        start = f"{(day - timedelta(days=1)).isoformat()}T23:59:59Z"
        found = self._query(prop="revisions", rvlimit="1", rvdir="older", rvstart=start, titles=article.title)
        return replace(found[0], is_current=False) if found else None

    def _query(self, **parameters: str) -> list[Revision]:
        """Return the revisions in the reply to one request, which counts as one call of the run."""
        reply = self._wiki.ask(action="query", rvprop="ids|timestamp", **parameters)
        report_usage(Usage(calls=1))
        return [revision for page in _pages(reply) if (revision := _revision(page))]

    def _text(self, article: Revision) -> str:
        call = Call("Wikipedia text, version 2", {"api": self._wiki.api, "revision": article.number}, costly=True)
        try:
            text: str = cached_call(call, lambda: self._fetched_text(article))
        except UnreadableSource as error:
            report_problem(Code.ARTICLE_LEFT_OUT(title=article.title, problem=str(error)))
            return ""
        return text

    def _fetched_text(self, article: Revision) -> str:
        report_phase(Code.READING_ARTICLE(title=article.title, host=self.host))
        return (self._current_text(article) if article.is_current else None) or self._old_text(article)

    def _current_text(self, article: Revision) -> str | None:
        """Return the text of the article without headings; None if there is a newer revision by now."""
        wanted = {"prop": "extracts|revisions"}  # as HTML: the API's plain text joins superscripts to numbers
        reply = self._wiki.ask(action="query", rvprop="ids|timestamp", **wanted, titles=article.title)
        for page in _pages(reply):
            if (now := _revision(page)) and now.number == article.number and isinstance(page.get("extract"), str):
                tree = fragment_of(page["extract"][:MAX_EXTRACT_CHARACTERS])
                for heading in tree.iter(*HEADINGS):
                    heading.clear(keep_tail=True)
                return "\n".join(paragraphs_of(tree))
        return None

    def _old_text(self, article: Revision) -> str:
        """Return the text of the revision, from its page as it would be shown; "" if it was deleted."""
        wanted = {"prop": "text", "disableeditsection": "1", "disablelimitreport": "1", "disabletoc": "1"}
        parsed = self._wiki.ask(action="parse", oldid=str(article.number), **wanted).get("parse")
        html = parsed.get("text") if isinstance(parsed, dict) else None
        if not isinstance(html, str) or not html:
            return ""
        page = f"<html><body><article>{html}</article></body></html>"
        return _TABLE_ROW.sub("", read_html(page, self._url(article), PARSE_SECONDS).text).strip()

    def _url(self, article: Revision) -> str:
        title = quote(article.title.replace(" ", "_"), safe="/:(),")
        return f"{self._wiki.api.removesuffix('api.php')}index.php?title={title}&oldid={article.number}"

    def _passage(self, article: Revision, text: str) -> Passage:
        source = f"{self._name}, revision {article.number}, {LICENCE}"
        return Passage(text, article.title, source, self._url(article), article.day, Origin.CORPUS)
