"""Which sentence of a passage is quoted: the one that an answer stands in, or the one nearest to what is said."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.model import Passage, Span
from app.text.evidence import content_words
from app.text.sentences import sentence_spans


def quoted_sentence(span: Span) -> str:
    """The sentence of the passage in which the cited span begins."""
    text = span.passage.text
    for start, end in sentence_spans(text):
        if start <= span.start < end:
            return text[start:end]
    return span.text


def nearest_sentence(said: str, passages: Sequence[Passage]) -> Span:
    """The sentence that shares most words with `said`; those of the title count as said in every sentence.

    Of equals the first wins, so the best passage's. Raises ValueError when there is no sentence at all.
    """
    wanted = content_words(said)
    spans = [Span(passage, *place) for passage in passages for place in sentence_spans(passage.text)]

    def shared(span: Span) -> int:
        return len(wanted & content_words(f"{span.passage.title} {span.text}"))

    return max(spans, key=shared)
