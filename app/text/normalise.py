"""Normalises text: for searches regardless of case, accents and width, and to the visible text of a web page."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_UNSEEN = frozenset(("Mn", "Cc", "Cf", "Cs"))
"""Ignored categories: marks, control and format characters, and surrogates."""


def folded(text: str) -> str:
    """Return `text` as it is searched: case-folded, without marks, in compatibility forms, with single spaces.

    So "erdogan" finds "Erdoğan", "strasse" finds "Straße" and "１９９０" is "1990", much as in a collation of primary
    strength (Unicode TR 10). Errors make a search find more, not less.
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    seen = "".join(each for each in apart if each.isspace() or unicodedata.category(each) not in _UNSEEN)
    return " ".join(unicodedata.normalize("NFKC", seen.casefold().replace("ı", "i")).split())


def search_words(query: str) -> tuple[str, ...]:
    """Return the distinct normalised words of a query."""
    return tuple(dict.fromkeys(folded(query).split()))


# Hidden text is a way to inject instructions for a model, so hidden elements are removed with their content; other tags
# are removed and keep theirs. Patterns are used because html.parser takes minutes for 200,000 characters of unclosed
# comments.

_MARKUP = re.compile(
    r"""<!--.*?(?:-->|\Z)
      | <[!?][^<>]*>
      | <(?P<end>/?)(?P<tag>[a-z][a-z0-9:-]*)(?P<attributes>(?:"[^"<]*"|'[^'<]*'|[^<>])*+)>""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_NEVER_SHOWN = frozenset("head script style template noscript iframe textarea select".split())
_EMPTY = frozenset("area base br col embed hr img input link meta source track wbr".split())
_WITHIN_WORDS = frozenset("a abbr b em font i mark s small span strong sub sup u wbr".split())
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HIDDEN = re.compile(r"(?:^|\s)hidden(?:[\s=/]|$)", re.IGNORECASE)
_HIDING = re.compile(
    r"aria-hidden\s*=\s*[\"']?true|display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:font-size|opacity)\s*:\s*0(?:\.0*)?(?![\d.])",
    re.IGNORECASE,
)
_BLANK = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0")
"""Invisible letters and marks that Unicode does not classify as format characters."""


def visible_text(text: str) -> str:
    """Return the visible `text` on one line with single spaces and decoded HTML entities."""
    shown = html.unescape("".join(_outside_markup(text)))
    return " ".join("".join(map(_shown, shown)).split())


@lru_cache(maxsize=4096)
def _shown(letter: str) -> str:
    """Return the letter, a space for a control character, or "" for an invisible character."""
    if letter in _BLANK or unicodedata.name(letter, "").startswith("VARIATION SELECTOR"):
        return ""
    category = unicodedata.category(letter)
    if category == "Cc":
        return " "
    return "" if category in ("Cf", "Co", "Cs", "Cn") else letter


def _outside_markup(text: str) -> Iterator[str]:
    """Yield the pieces of `text` between tags that are not inside a hidden element.

    An element that is never closed hides the rest. Only its own name is counted inside it, so depth costs nothing.
    """
    at, hider, depth = 0, "", 0
    for match in _MARKUP.finditer(text):
        if not depth:
            yield text[at : match.start()]
        at, tag = match.end(), (match["tag"] or "").lower()
        if tag not in _WITHIN_WORDS:
            yield " "
        if depth:
            depth += (-1 if match["end"] else 1) * (tag == hider)
        elif tag and not match["end"] and tag not in _EMPTY and _is_hidden(tag, match["attributes"]):
            hider, depth = tag, 1
    if not depth:
        yield text[at:]


def _is_hidden(tag: str, attributes: str) -> bool:
    if tag in _NEVER_SHOWN:
        return True
    written = html.unescape(attributes)
    return bool(_HIDING.search(written) or _HIDDEN.search(_QUOTED.sub("", written)))
