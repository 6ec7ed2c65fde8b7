"""What the kept hops offer as evidence, for the modules that judge it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.domain.model import Context, Hop, Passage, Span
from app.domain.ports import Reranker
from app.text.sentences import sentence_spans, sentences

NEAREST = 2
"""Sentences nearest to the claim that the judge reads beside those of the answers.

More make it worse: a false claim brings sentences with its own false words.
"""
MOST_RANKED = 80
"""Limit on the sentences that are ranked: web pages are long."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence, or a whole passage, with its title and the number of the hop that read it."""

    title: str
    text: str
    hop: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the judge reads of the kept hops; `nearest`, one of the excerpts, is the sentence nearest to the claim."""

    excerpts: tuple[Excerpt, ...]
    nearest: Excerpt | None = None


def evidence_of(claim: str, context: Context, reranker: Reranker) -> Evidence:
    """Return what the judge reads.

    These are the sentences that the answers begin in, and at most NEAREST of all passages read, those nearest to the
    claim by the reranker. A passage cited without a question (a data set's evidence)
    and an answer that cites nothing stay whole.
    """
    given = map(_whole, filter(_is_given, context))
    read = {(passage.title, passage.text): (passage, number) for passage, number in _read(context)}
    ranked = reranker.rerank(claim, [passage for passage, _ in islice(read.values(), MOST_RANKED)])[:NEAREST]
    nearest = [Excerpt(best.title, best.text, read[best.title, best.text][1]) for best in ranked]
    chosen: dict[tuple[str, str], Excerpt] = {}
    for one in (*nearest[:1], *given, *_cited(context), *nearest[1:]):
        chosen.setdefault((one.title, one.text), one)
    return Evidence(tuple(chosen.values()), nearest[0] if nearest else None)


def by_title(found: Sequence[Excerpt]) -> list[tuple[str, str]]:
    """Return (title, text) of the excerpts, those of one title joined; those without a title stay apart."""
    texts: dict[tuple[str, int], list[str]] = {}
    for number, one in enumerate(found):
        texts.setdefault((one.title, 0 if one.title else number), []).append(one.text)
    return [(title, " ".join(parts)) for (title, _), parts in texts.items()]


def asked_pairs(context: Context) -> list[tuple[str, str]]:
    """Return (question, answer) of each kept hop whose answer is a part of a cited sentence."""
    asked = ((hop.question.text, hop.answer) for hop in context if hop.question.text)
    return [
        (question, " ".join(answer.text.split()))
        for question, answer in asked
        if answer and answer.text and answer.cited and answer.text != quoted_sentence(answer.cited)
    ]


def quoted_sentence(span: Span) -> str:
    """Return the sentence of the passage in which the cited span begins."""
    text = span.passage.text
    for start, end in sentence_spans(text):
        if start <= span.start < end:
            return text[start:end]
    return span.text


def _is_given(hop: Hop) -> bool:
    answer = hop.answer
    return answer is not None and answer.text is not None and (answer.cited is None or not hop.question.text)


def _whole(hop: Hop) -> Excerpt:
    answer = hop.answer
    if answer and answer.cited:
        return Excerpt(answer.cited.passage.title, answer.cited.passage.text, hop.number)
    return Excerpt("", f"{hop.question.text} {answer.text if answer else ''}".strip(), hop.number)


def _cited(context: Context) -> Iterator[Excerpt]:
    for hop in context:
        if hop.answer and hop.answer.text and hop.answer.cited and hop.question.text:
            yield Excerpt(hop.answer.cited.passage.title, quoted_sentence(hop.answer.cited), hop.number)


def _read(context: Context) -> Iterator[tuple[Passage, int]]:
    """Yield the sentences of the passages that the asked hops read, with the hop's number."""
    for hop in context:
        for passage in hop.answer.retrieved if hop.answer and hop.question.text else ():
            for sentence in sentences(passage.text):
                yield replace(passage, text=sentence), hop.number
