"""What a provider lists -> hits that can be shown and read: plain text, addresses of web pages, each page once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from html import unescape
from typing import Any
from urllib.parse import urldefrag, urlsplit

from app.backends.web_search.dates import published
from app.backends.web_search.provider import Fields
from app.domain.model import SearchHit

TITLE_CHARACTERS = 300
SNIPPET_CHARACTERS = 2_000
URL_CHARACTERS = 2_000
RAW_CHARACTERS = 20_000
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


def hits(listed: Iterable[Any], fields: Fields, today: date) -> Iterator[SearchHit]:
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
    dates = (published(result.get(name), today) for name in fields.dates)
    return SearchHit(
        title=plain(result.get(fields.title), TITLE_CHARACTERS),
        site=site,
        snippet=plain(result.get(fields.snippet), SNIPPET_CHARACTERS),
        url=url,
        published=next((day for day in dates if day), None),
    )


def site_of(url: str) -> str:
    """The host of a web page, without www.; "" for an address that is none, or that holds a name or password."""
    if len(url) > URL_CHARACTERS or not url.isprintable() or " " in url:
        return ""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError where it is no port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or "@" in parts.netloc:
        return ""
    return (parts.hostname or "").removeprefix("www.")


def plain(text: object, most: int) -> str:
    """One line of at most `most` characters, without markup and without what cannot be seen; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    shown = _COMMENT.sub("", _HIDDEN.sub(" ", text[:RAW_CHARACTERS]))
    shown = unescape(_TAG.sub(lambda tag: "" if tag[1].lower() in _IN_A_WORD else " ", shown))
    line = " ".join("".join(map(_seen, shown)).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _seen(character: str) -> str:
    """The character itself; a space for a control character, nothing for one that only changes how others look."""
    category = unicodedata.category(character)
    if category == "Cf":
        return character if character in _JOINERS else ""
    return " " if category in ("Cc", "Cs", "Co", "Cn") else character
