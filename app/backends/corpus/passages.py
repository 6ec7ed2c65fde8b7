"""Cut documents into passages of about a hundred words, at sentence boundaries, never across two documents.

Passages are retrieved, shown and read. The judge and the reader were trained on texts of this length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from app.text.sentences import sentence_spans

PASSAGE_WORDS = 100
MAX_WORD_CHARACTERS = 200
"""Maximum characters of a word: longer text without spaces (a script without them, or binary data) is cut."""

MAX_TITLE_CHARACTERS = 300

_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_LONG_RUN = re.compile(rf"(\S{{{MAX_WORD_CHARACTERS}}})(?=\S)")


def clean(text: str) -> str:
    """Return `text` on one line: control characters and lone surrogates become spaces, repeated spaces one."""
    return " ".join(_NO_TEXT.sub(" ", text).split())


def title_and_text(title: str, contents: str) -> tuple[str, str]:
    """Return a document's title and text; the first line is the title if there is none, or if it repeats it."""
    first, _, rest = contents.partition("\n")
    if rest.strip() and len(first) <= MAX_TITLE_CHARACTERS and (not title or first.strip() == title):
        return clean(first).strip('"'), rest
    return clean(title)[:MAX_TITLE_CHARACTERS], contents


def passages_of(paragraphs: Iterable[str], words: int = PASSAGE_WORDS) -> Iterator[str]:
    """Yield the passages of one document in order, holding one of its paragraphs at a time.

    A passage ends with the sentence or the paragraph whose end is nearest to `words`, or after `words` if none ends
    nearby. The last passage of a document may be short.
    """
    held: list[str] = []
    ends: list[int] = []
    for paragraph in paragraphs:
        held += _LONG_RUN.sub(r"\1 ", clean(paragraph)).split()
        ends.append(len(held))
        start = 0
        while len(held) - start > words * 5 // 4:
            cut = start + _cut(held[start : start + 2 * words], [end - start for end in ends], words)
            yield " ".join(held[start:cut])
            start = cut
        held, ends = held[start:], [end - start for end in ends if end > start]
    if held:
        yield " ".join(held)


def _cut(text: list[str], paragraph_ends: list[int], words: int) -> int:
    """Return the best number of words for a passage. Searches near `words` first, as splitting sentences is slow."""
    for reach in (words * 3 // 10, words // 2):
        low, high = words - reach, min(words + reach, len(text))
        near = [low + end for end in _sentence_ends(text[low:high])]
        near += [end for end in paragraph_ends if low <= end <= high]
        if near:
            return min(near, key=lambda end: abs(end - words))
    return words


def _sentence_ends(text: list[str]) -> list[int]:
    """Return the word count at the end of each sentence of `text`, except the last, which may be incomplete."""
    joined = " ".join(text)
    return [joined.count(" ", 0, end) + 1 for _, end in sentence_spans(joined)[:-1]]
