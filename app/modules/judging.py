"""Judge a claim by the kept hops: the evidence that is read, the probabilities of the labels, what decides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.domain.model import Claim, Context, Hop, Label, Passage, Span
from app.domain.ports import EntailmentModel, Reranker
from app.modules.answer_comparison import compared
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


ORDER = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE)
COMPUTED = 0.9
"""Probability of a computed label: 27 of 31 comparisons by rule were right on new claims, answers misread included."""

Probabilities = dict[Label, float]


@dataclass(frozen=True)
class EvidenceJudge:
    """The entailment model over what the kept hops read. Propagates the errors of both models; holds no state."""

    model: EntailmentModel
    reranker: Reranker

    def score(self, claim: Claim, context: Context) -> Probabilities:
        """Return the probability of each label."""
        return self.score_of(claim, context, self.evidence(claim, context))

    def evidence(self, claim: Claim, context: Context) -> Evidence:
        """Return what is read of the kept hops."""
        return evidence_of(claim.text, context, self.reranker)

    def score_of(self, claim: Claim, context: Context, evidence: Evidence) -> Probabilities:
        """Return the probability of each label: the normalised geometric mean of two readings.

        One is of the nearest sentence alone, the other of all with the questions and answers of the hops. The nearest
        alone is right more often where one sentence decides, but it decides what no sentence does. Where the order of
        two answers can be computed, that overrules both.
        """
        if order := compared(claim, context):
            computed = (COMPUTED, 0.0, 1 - COMPUTED) if order.holds else (0.0, COMPUTED, 1 - COMPUTED)
            return dict(zip(ORDER, computed, strict=True))
        readings: list[Sequence[Excerpt]] = [evidence.excerpts]
        asked: list[Sequence[tuple[str, str]]] = [asked_pairs(context)]
        if evidence.nearest and len(evidence.excerpts) > 1:
            readings, asked = [(evidence.nearest,), *readings], [(), *asked]
        rows = self.model.classify([(claim.text, by_title(read)) for read in readings], asked)
        joint = [math.prod(column) ** (1 / len(rows)) for column in zip(*rows, strict=True)]
        return {label: value / (sum(joint) or 1.0) for label, value in zip(ORDER, joint, strict=True)}

    def deciding(self, claim: Claim, evidence: Evidence, label: Label) -> Excerpt | None:
        """Return the excerpt that alone gives `label` the highest probability; None without any."""
        found = evidence.excerpts
        if len(found) < 2:
            return found[0] if found else None
        rows = self.model.classify([(claim.text, [(one.title, one.text)]) for one in found])
        place = ORDER.index(label)
        return found[max(range(len(found)), key=lambda at: rows[at][place])]

    def conflict(self, claim: Claim, context: Context, sufficient: float) -> tuple[Hop, Hop] | None:
        """Return the kept hops that support and refute the claim most, each above `sufficient` alone; or None."""
        if len(context) < 2:
            return None
        rows = [self.score(claim, (hop,)) for hop in context]
        supports = max(range(len(context)), key=lambda at: rows[at][Label.SUPPORTED])
        refutes = max(range(len(context)), key=lambda at: rows[at][Label.REFUTED])
        if min(rows[supports][Label.SUPPORTED], rows[refutes][Label.REFUTED]) < sufficient:
            return None
        return context[supports], context[refutes]


def decided(probabilities: Probabilities) -> float:
    """Return the larger of p(supported) and p(refuted)."""
    return max(probabilities[Label.SUPPORTED], probabilities[Label.REFUTED])
