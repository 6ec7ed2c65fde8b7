"""What the kept hops offer as evidence, for the modules that judge it."""

from __future__ import annotations

from app.language.sentences import sentence_spans
from app.reasoning.types import Context, Hop, Span


def passages_of(context: Context) -> list[tuple[str, str]]:
    """The (title, text) of the passages that the kept answers cite, each passage once, in order.

    A hop whose answer cites nothing brings its question and answer as they stand.
    """
    found: dict[tuple[str, str], None] = {}
    for hop in context:
        if hop.answer is None or hop.answer.text is None:
            continue
        cited = hop.answer.cited
        found.setdefault((cited.passage.title, cited.passage.text) if cited else ("", _statement(hop)))
    return list(found)


def _statement(hop: Hop) -> str:
    return f"{hop.question.text} {hop.answer.text if hop.answer else ''}".strip()


def quoted_sentence(span: Span) -> str:
    """The sentence of the passage in which the cited span begins."""
    text = span.passage.text
    for start, end in sentence_spans(text):
        if start <= span.start < end:
            return text[start:end]
    return span.text
