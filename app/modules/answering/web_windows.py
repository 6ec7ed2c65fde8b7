"""Which stretch of a page the search meant: five sentences around the words of its snippet (Papelo, Algorithm 2).

Every window of five sentences that holds more than 70% of the snippet's words is collected, in the page's order, the
last one of the page too, and the middle one is taken. Words are compared as words: without case, accents and marks.
"""

from __future__ import annotations

from app.modules.wording import normalised
from app.text.evidence import content_words
from app.text.sentences import sentence_spans

SENTENCES = 5
SHARE = 0.7
PAGE_CHARACTERS = 200_000
"""So much of a page is looked at; English text of this length takes 0.2 s of one core."""
LONGEST_SENTENCE = 100
"""Words; what has no full stop for longer is a table or a list, and is cut so that five of them stay a window."""


def window_for(text: str, snippet: str, question: str) -> str | None:
    """The window of `text` that the snippet is from, None where there is none.

    A hit without a snippet says nothing of the place, so the window nearest to the question is taken, the first of
    equals.
    """
    windows = _windows(text[:PAGE_CHARACTERS])
    wanted = frozenset(words(snippet))
    if wanted:
        holding = [window for window, found in windows if len(wanted & found) / len(wanted) > SHARE]
        return holding[len(holding) // 2] if holding else None
    asked = content_words(normalised(question))
    return max(windows, key=lambda each: len(asked & each[1]), default=(None, None))[0]


def words(text: str) -> list[str]:
    """The words of `text` in the form in which they are compared."""
    return normalised(text.replace("’", "'")).split()


def _windows(text: str) -> list[tuple[str, frozenset[str]]]:
    """Every run of SENTENCES sentences with its words, in order; one window where there are fewer sentences."""
    spans = [piece for span in sentence_spans(text) for piece in _pieces(text, *span)]
    told = [frozenset(words(text[start:end])) for start, end in spans]
    last = max(len(spans) - SENTENCES, 0)
    return [
        (
            text[spans[at][0] : spans[min(at + SENTENCES, len(spans)) - 1][1]],
            frozenset().union(*told[at : at + SENTENCES]),
        )
        for at in range(last + 1)
        if spans
    ]


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentence [start, end) in pieces of at most LONGEST_SENTENCE words."""
    sentence = text[start:end]
    if len(sentence.split()) <= LONGEST_SENTENCE:
        return [(start, end)]
    bounds, at = [start], start
    for number, word in enumerate(sentence.split()):
        at = text.index(word, at)
        if number and number % LONGEST_SENTENCE == 0:
            bounds.append(at)
        at += len(word)
    return list(zip(bounds, [*bounds[1:], end], strict=True))
