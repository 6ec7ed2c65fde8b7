"""Read web pages as text: fetch them if robots.txt allows it, and parse them in a sandboxed process.

The site of a page is the host that it came from, not the name that the page states.
"""

from __future__ import annotations

import codecs
import re
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from http.client import responses
from pathlib import Path
from urllib.parse import urlsplit

from app.backends.corpus.pdf import read_pdf
from app.backends.fact_checks import MAX_FACT_CHECKS, fact_check
from app.backends.fetch.html import PageText, read_html
from app.backends.fetch.safe_http import Budget, GuardedHttp
from app.backends.fetch.sandbox import UnreadableSource
from app.backends.http import HttpResult
from app.config import VERSION
from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, cached_call, report_phase
from app.domain.messages import Code
from app.domain.model import FactCheck, Page, SearchHit
from app.text.clean import clean_line, clean_text

_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_MARKUP_CHARSET = re.compile(rb"""<(?:meta|\?xml)[^>]+?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_LABEL_PREFIX = re.compile(r"\A(?:x-)*(?:windows-|dos-)?", re.IGNORECASE)
"""What the web's names of encodings have before Python's: x-gbk, windows-949."""
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

SNIFFED_BYTES = 4096
"""Bytes at the start of a page that are searched for a declaration of its character set."""

_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "windows-31j": "cp932",
    "big5": "big5hkscs",
}
"""Larger character sets with which browsers decode pages that declare a subset (WHATWG, Encoding)."""

_CHARSETS = frozenset(
    "utf-8 utf-16 utf-16-le utf-16-be big5hkscs cp932 cp949 euc_jp gb18030 iso2022_jp koi8-r koi8-u cp866 "
    "mac-roman mac-cyrillic cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
    "iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 "
    "iso8859-15 iso8859-16".split()
)
"""The only codecs used: some of Python's are no character sets, and `punycode` would take hours for a page."""


def decode_page(content: bytes, content_type: str = "") -> str:
    """Decode as `decode_declared` does, else by the first declared encoding, else by detection."""
    if (text := decode_declared(content, content_type)) is not None:
        return text
    declared = _declared_encodings(content, content_type)
    return content.decode(declared[0] if declared else _detect_encoding(content), "replace")


def decode_declared(content: bytes, content_type: str = "") -> str | None:
    """Decode a page by its byte order mark, as UTF-8 if valid, or as its header or markup declares; else None."""
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace")
    for name in _encodings_to_try(content, content_type):
        try:
            return content.decode(name)
        except UnicodeDecodeError:
            continue
    return None


def _encodings_to_try(content: bytes, content_type: str) -> list[str]:
    """Return the encodings to try in order. UTF-8 comes before the declared ones, which are often wrong."""
    declared = _declared_encodings(content, content_type)
    # UTF-16 and ISO-2022-JP come first, since text in them may also be valid UTF-8.
    first = [name for name in declared if name.startswith("utf-16") and b"\0" in content[:SNIFFED_BYTES]]
    if b"\x1b" in content:
        first += [name for name in declared if name == "iso2022_jp"]
    return [*first, "utf-8", *(name for name in declared if not name.startswith("utf-16"))]


def _declared_encodings(content: bytes, content_type: str) -> list[str]:
    """Return Python's names of the encodings declared in the header, then in the markup.

    UTF-16 in the markup is left out: bytes in which that can be read are not UTF-16 (WHATWG, HTML, section 13.2.3.2).
    """
    markup = _MARKUP_CHARSET.search(content[:SNIFFED_BYTES])
    header = _HEADER_CHARSET.search(content_type)
    named = [header[1]] if header else []
    named += [markup[1].decode("ascii", "replace")] if markup and not markup[1].lower().startswith(b"utf-16") else []
    names = []
    for each in named:
        plain = _LABEL_PREFIX.sub("", each)
        for label in (_SUPERSETS.get(each.lower(), each), plain, f"cp{plain}"):
            with suppress(LookupError):
                name = codecs.lookup(label).name
                names.append(_SUPERSETS.get(name, name))
                break
    return [name for name in names if name in _CHARSETS]


def _detect_encoding(content: bytes) -> str:
    """Detect the encoding from the beginning; cp1252, the browsers' default, when that fails."""
    from charset_normalizer import from_bytes

    sample = content[: 4 * SNIFFED_BYTES]
    if len(sample) < len(content):  # end between two characters: half of one would exclude the right encoding
        end = max(sample.rfind(mark, 3 * SNIFFED_BYTES) for mark in (b"<", b"\n"))
        sample = sample[:end] if end > 0 else sample
    best = None if sample.isascii() else from_bytes(sample, cp_isolation=sorted(_CHARSETS)).best()
    return codecs.lookup(best.encoding).name if best else "cp1252"


CACHE_SECONDS = 3600.0
MAX_SITES = 100
DISALLOW_ALL = "User-agent: *\nDisallow: /"
MAX_ROBOTS_BYTES = 1024**2
"""RFC 9309, section 2.5, requires a limit of at least 500 KiB."""

_AGENT_LINE = re.compile(r"\s*user[\s-]*agent[\s:]*(\*|[a-z_-]*)", re.IGNORECASE)


def is_page_allowed(rules: str, name: str, url: str) -> bool:
    """Return whether a robots.txt with these rules lets the program `name` read the page (RFC 9309).

    Groups for other programs are merged into one: Protego stores each rule once for every program its group names,
    which would need memory by the gigabyte for a hostile file.
    """
    from protego import Protego

    return Protego.parse("\n".join(_merge_other_agents(line, name) for line in rules.splitlines())).can_fetch(url, name)


def _merge_other_agents(line: str, name: str) -> str:
    if not (agent := _AGENT_LINE.match(line)):
        return line
    return f"User-agent: {agent[1] if agent[1].lower() in (name.lower(), '*') else 'other'}"


class RobotsCache:
    """Fetches and caches the robots.txt of each site. Thread-safe."""

    def __init__(self, http: GuardedHttp, name: str, now: Callable[[], float] = time.monotonic) -> None:
        """`name` is the product token by which robots.txt files refer to this program."""
        self._http, self._name, self._now = http, name, now
        self._rules_by_site: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()

    def check(self, url: str, budget: Budget) -> None:
        """Raise CallFailed if robots.txt disallows this page or cannot be read."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            since, rules = self._rules_by_site.get(origin, (-CACHE_SECONDS, ""))
        if self._now() - since >= CACHE_SECONDS:
            reply = self._http.get(f"{origin}/robots.txt", budget, limit=MAX_ROBOTS_BYTES)
            rules = _rules_from(reply, parts.hostname or "")
            with self._lock:
                self._rules_by_site.pop(origin, None)  # to become the newest
                self._rules_by_site[origin] = self._now(), rules
                if len(self._rules_by_site) > MAX_SITES:
                    del self._rules_by_site[next(iter(self._rules_by_site))]
        if not is_page_allowed(rules, self._name, url):
            raise CallFailed(f"{parts.hostname} asks that programs do not read this page (its robots.txt).")


def _rules_from(reply: HttpResult, host: str) -> str:
    """Return the rules of a reply: 401 and 403 disallow everything, a missing file allows everything."""
    if reply.status == 429 or reply.status >= 500:
        raise CallFailed(f"{host} answers {reply.status} for its robots.txt, so none of its pages is read.")
    if reply.status == 200:
        return reply.content.decode("utf-8-sig", "replace")
    return DISALLOW_ALL if reply.status in (401, 403) else ""


PRODUCT_TOKEN = "Hopcheck"
USER_AGENT = (
    f"{PRODUCT_TOKEN}/{VERSION} (checks claims that people paste; reads single pages that a search or a person named)"
)

CACHE_MODEL = "web pages, version 4"
"""The model name of cached calls; a change to the extraction requires a new version."""

FETCH_SECONDS = 15.0
"""Time limit for fetching one page, with its robots.txt and redirects."""
PARSE_SECONDS = 15.0
MAX_TEXT_CHARACTERS = 1_000_000
"""Maximum text of one page, about three novels."""
MAX_TITLE_CHARACTERS = 300


class WebPages:
    """Implements `PageReader`. Thread-safe. Within a run, pages are cached like model calls."""

    def __init__(
        self,
        *,
        robots: bool = True,
        http: GuardedHttp | None = None,
        fetch_seconds: float = FETCH_SECONDS,
        parse_seconds: float = PARSE_SECONDS,
    ) -> None:
        """`robots`: respect robots.txt. `http` is for tests; the default client reaches public pages only."""
        self._http = http or GuardedHttp(USER_AGENT)
        self._robots = RobotsCache(self._http, PRODUCT_TOKEN) if robots else None
        self._fetch_seconds, self._parse_seconds = fetch_seconds, parse_seconds

    def read(self, hit: SearchHit) -> Page:
        """Return the page of a hit, with the hit's title and date where the page has none. Raises CallFailed."""
        url = hit.url.partition("#")[0]
        report_phase(Code.READING_PAGE_OF(host=self._http.host_of(url)))
        call = Call(CACHE_MODEL, {"url": url, "robots": self._robots is not None}, costly=True)
        stored = cached_call(call, lambda: asdict(self._fetch_page(url)))
        page = Page(**{**stored, "fact_checks": tuple(FactCheck(**each) for each in stored["fact_checks"])})
        return replace(page, title=page.title or hit.title, published=page.published or hit.published)

    def _fetch_page(self, url: str) -> Page:
        budget = Budget(self._fetch_seconds)
        robots = self._robots
        check_allowed: Callable[[str], None] = (lambda at: robots.check(at, budget)) if robots else (lambda at: None)
        reply = self._http.get(url, budget, kinds=_READERS, check_allowed=check_allowed)
        site = (urlsplit(reply.url).hostname or "").removeprefix("www.")
        if reply.status != 200:
            phrase = f" ({responses[reply.status]})" if reply.status in responses else ""
            raise CallFailed(f"{site} answers {reply.status}{phrase} for this page.")
        read = _read_pdf if reply.content.startswith(b"%PDF-") else _READERS[reply.kind]
        try:
            page = read(reply, self._parse_seconds)
        except UnreadableSource as error:
            raise CallFailed(f"The page of {site} {error}.") from error
        if not (text := clean_text(page.text[:MAX_TEXT_CHARACTERS])):
            raise CallFailed(f"The page of {site} is empty.")
        title = clean_line(page.title)[:MAX_TITLE_CHARACTERS]
        reviews = tuple(filter(None, (fact_check(**each) for each in page.claim_reviews[:MAX_FACT_CHECKS])))
        return Page(reply.url, title, site, text, page.published, page.is_fact_check, reviews)


def _read_html(reply: HttpResult, seconds: float) -> PageText:
    return read_html(decode_page(reply.content, reply.headers.get("content-type", "")), reply.url, seconds)


def _read_text(reply: HttpResult, seconds: float) -> PageText:
    return PageText(decode_page(reply.content, reply.headers.get("content-type", "")), "", None)


def _read_pdf(reply: HttpResult, seconds: float) -> PageText:
    with tempfile.TemporaryDirectory(prefix="hopcheck-page-") as folder:
        pdf, text = Path(folder, "page.pdf"), Path(folder, "page.txt")
        pdf.write_bytes(reply.content)
        title = read_pdf(pdf, text, seconds)
        return PageText(text.read_text("utf-8", "replace"), title, None)


_READERS = {
    "text/html": _read_html,
    "application/xhtml+xml": _read_html,
    "": _read_html,
    "text/plain": _read_text,
    "application/pdf": _read_pdf,
}
"""Readers by media type; a page without one is read as HTML, as browsers do."""
