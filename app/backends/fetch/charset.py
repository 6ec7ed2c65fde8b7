"""Decode a page's bytes, given conflicting declarations by its server and markup (WHATWG Encoding)."""

from __future__ import annotations

import codecs
import re

_HEADER = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_META = re.compile(rb"""<(?:meta|\?xml)[^>]+?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

SNIFFED_BYTES = 4096
"""Bytes in which a page must declare its character set, and from which it is guessed when it does not."""

_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
}
"""Character sets that are declared for a larger one which contains them, as browsers know (WHATWG, Encoding)."""

_KNOWN = frozenset(
    "utf-8 utf-16 utf-16-le utf-16-be big5hkscs cp932 cp949 euc_jp gb18030 iso2022_jp koi8-r koi8-u cp866 "
    "mac-roman mac-cyrillic cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
    "iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 "
    "iso8859-15 iso8859-16".split()
)
"""No others: some of Python's codecs are no character sets, and one of them takes hours over a page (punycode)."""


def decode_page(content: bytes, content_type: str = "") -> str:
    """Decode a page by its byte order mark, as UTF-8 if valid, as declared in header or markup, or by detection.

    Invalid bytes become U+FFFD.
    """
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace")
    for name in _candidates(content, content_type):
        try:
            return content.decode(name)
        except UnicodeDecodeError:
            continue
    declared = _declared(content, content_type)
    return content.decode(declared[0] if declared else _guessed(content), "replace")


def _candidates(content: bytes, content_type: str) -> list[str]:
    """Return the encodings to try in order. Wrong declarations are commoner than text that is UTF-8 by accident."""
    declared = _declared(content, content_type)
    # Text in these two encodings may also be valid UTF-8.
    first = [name for name in declared if name.startswith("utf-16") and b"\0" in content[:SNIFFED_BYTES]]
    if b"\x1b" in content:
        first += [name for name in declared if name == "iso2022_jp"]
    return [*first, "utf-8", *(name for name in declared if not name.startswith("utf-16"))]


def _declared(content: bytes, content_type: str) -> list[str]:
    """Return Python's names of the encodings declared in the header, then in the markup."""
    markup = _META.search(content[:SNIFFED_BYTES])
    header = _HEADER.search(content_type)
    named = [header[1]] if header else []
    named += [markup[1].decode("ascii", "replace")] if markup else []
    names = []
    for each in named:
        try:
            name = codecs.lookup(each).name
        except LookupError:
            continue
        names.append(_WIDER.get(name, name))
    return [name for name in names if name in _KNOWN]


def _guessed(content: bytes) -> str:
    """Detect the encoding from the beginning; cp1252, the browsers' default, when that fails."""
    from charset_normalizer import from_bytes

    best = from_bytes(content[: 4 * SNIFFED_BYTES]).best()
    name = _WIDER.get(best.encoding, best.encoding) if best else ""
    return name if name in _KNOWN else "cp1252"
