"""Documents cut into passages: about a hundred words each, on sentence bounds, never across two documents.

A passage is what is retrieved, shown and read: the judge and the reader were trained on texts of this length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from app.language.sentences import sentences

WORDS = 100
LONGEST_WORD = 200
"""Characters; a longer run without a space (a script that has none, or a blob) is cut."""

LONGEST_TITLE = 300

_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_LONG_RUN = re.compile(rf"(\S{{{LONGEST_WORD}}})(?=\S)")


def clean(text: str) -> str:
    """`text` on one line: control characters and half characters are spaces, and spaces stand alone."""
    return " ".join(_NO_TEXT.sub(" ", text).split())


def title_and_text(title: str, contents: str) -> tuple[str, str]:
    """A document's title and its text; its first line is its title where it has none of its own, or repeats it."""
    first, _, rest = contents.partition("\n")
    if rest.strip() and len(first) <= LONGEST_TITLE and (not title or first.strip() == title):
        return clean(first).strip('"'), rest
    return clean(title)[:LONGEST_TITLE], contents


def passages_of(paragraphs: Iterable[str], words: int = WORDS) -> Iterator[str]:
    """The passages of one document, in order, given its paragraphs; no more than some paragraphs are held at once.

    A passage ends where its length is nearest to `words`; the last one of a document may be short. A sentence of more
    than one and a half times `words` is cut between words.
    """
    held: list[str] = []
    size = 0
    for unit, length in _units(paragraphs, words):
        if held and size + length / 2 > words:
            yield " ".join(held)
            held, size = [], 0
        held.append(unit)
        size += length
    if held:
        yield " ".join(held)


def _units(paragraphs: Iterable[str], words: int) -> Iterator[tuple[str, int]]:
    """What is never cut, with its number of words: sentences, and paragraphs that are no longer than a sentence."""
    for paragraph in paragraphs:
        text = _LONG_RUN.sub(r"\1 ", clean(paragraph))
        length = text.count(" ") + 1
        if text and length <= words // 4:
            yield text, length
        elif text:
            for sentence in sentences(text):
                yield from _pieces(sentence, words)


def _pieces(sentence: str, words: int) -> Iterator[tuple[str, int]]:
    split = sentence.split()
    step = len(split) if len(split) <= words * 3 // 2 else words
    for start in range(0, len(split), step):
        piece = split[start : start + step]
        yield " ".join(piece), len(piece)
