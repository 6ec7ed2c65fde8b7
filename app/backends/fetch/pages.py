"""Read web pages as text: fetch them if robots.txt allows it, and parse them in a sandboxed process.

The site of a page is the host that it came from, not the name that the page states.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from http import HTTPStatus
from pathlib import Path

from app.backends.corpus.pdf import PdfFailed, read_pdf
from app.backends.fetch.charset import decode_page
from app.backends.fetch.html import HtmlFailed, HtmlText, read_html
from app.backends.fetch.robots import RobotsCache
from app.backends.fetch.safe_http import Budget, Fetched, GuardedHttp
from app.domain.calls import Call, cached_call
from app.domain.errors import CallFailed
from app.domain.model import Page, SearchHit
from app.domain.progress import entered

NAME = "Hopcheck"
VERSION = "0.1.0"
AGENT = f"{NAME}/{VERSION} (checks a claim that a person pasted; reads single pages that a search found)"

MODEL = "web pages, version 1"
"""The model name of cached calls; a change to the extraction requires a new version."""

FETCH_SECONDS = 15.0
"""Network time for one page, robots.txt and redirects included."""
PARSE_SECONDS = 15.0
MAX_TEXT_CHARACTERS = 1_000_000
"""Limit of one page, about three novels."""
MAX_TITLE_CHARACTERS = 300

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
"""Invisible characters, in which a page can hide text for a model. Joiners are kept: some scripts require them."""


class WebPages:
    """Implements `PageReader`. Thread-safe; each page is fetched once and then cached."""

    def __init__(
        self,
        *,
        robots: bool = True,
        http: GuardedHttp | None = None,
        fetch_seconds: float = FETCH_SECONDS,
        parse_seconds: float = PARSE_SECONDS,
    ) -> None:
        """`robots`: respect robots.txt. `http` is for tests; the default client reaches public pages only."""
        self._http = http or GuardedHttp(AGENT)
        self._robots = RobotsCache(self._http, NAME) if robots else None
        self._fetch_seconds, self._parse_seconds = fetch_seconds, parse_seconds

    def read(self, hit: SearchHit) -> Page:
        """Return the page of a hit, with the hit's title and date where the page has none. Raises CallFailed."""
        url = hit.url.partition("#")[0]
        entered(f"reading a page of {self._http.host_of(url)}")
        call = Call(MODEL, {"url": url, "robots": self._robots is not None}, costly=True)
        page = Page(**cached_call(call, lambda: asdict(self._fetched(url))))
        return replace(page, title=page.title or hit.title, published=page.published or hit.published)

    def _fetched(self, url: str) -> Page:
        budget = Budget(self._fetch_seconds)
        robots = self._robots
        check_allowed: Callable[[str], None] = (lambda at: robots.check(at, budget)) if robots else (lambda at: None)
        reply = self._http.get(url, budget, kinds=_READERS, check_allowed=check_allowed)
        site = reply.host.removeprefix("www.")
        if reply.status != 200:
            raise CallFailed(f"{site} answers {_phrase(reply.status)} for this page.")
        read = _read_pdf if reply.content.startswith(b"%PDF-") else _READERS[reply.kind]
        try:
            found = read(reply, self._parse_seconds)
        except (PdfFailed, HtmlFailed) as error:
            raise CallFailed(f"The page of {site} {error}.") from error
        if not (text := _visible(found.text)[:MAX_TEXT_CHARACTERS].strip()):
            raise CallFailed(f"The page of {site} is empty.")
        title = " ".join(_visible(found.title).split())[:MAX_TITLE_CHARACTERS]
        return Page(reply.url, title, site, text, found.published)


def _phrase(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def _visible(text: str) -> str:
    return _INVISIBLE.sub("", text)


def _read_html(reply: Fetched, seconds: float) -> HtmlText:
    return read_html(decode_page(reply.content, reply.content_type), reply.url, seconds)


def _read_text(reply: Fetched, seconds: float) -> HtmlText:
    return HtmlText(decode_page(reply.content, reply.content_type), "", None)


def _read_pdf(reply: Fetched, seconds: float) -> HtmlText:
    with tempfile.TemporaryDirectory(prefix="hopcheck-page-") as folder:
        pdf, text = Path(folder, "page.pdf"), Path(folder, "page.txt")
        pdf.write_bytes(reply.content)
        title = read_pdf(pdf, text, seconds)
        return HtmlText(text.read_text("utf-8", "replace"), title, None)


_READERS = {
    "text/html": _read_html,
    "application/xhtml+xml": _read_html,
    "": _read_html,
    "text/plain": _read_text,
    "application/pdf": _read_pdf,
}
"""Readers by media type; a page without one is read as HTML, as browsers do."""
