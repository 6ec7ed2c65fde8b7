"""A judge with fixed probabilities and a reranker by shared words, for tests of the modules that use them."""

from __future__ import annotations

from dataclasses import replace

from app.modules.judging import EvidenceJudge
from app.text.sentences import content_words


class ScriptedJudge:
    """Implements EntailmentModel: the same probabilities for every pair; records its input."""

    def __init__(self, *probabilities: float) -> None:
        self.probabilities = probabilities
        self.pairs = []
        self.asked = []

    def classify(self, pairs, asked=()):
        self.pairs += pairs
        self.asked += asked
        return [self.probabilities for _ in pairs]


class SharedWords:
    """Implements Reranker: the number of words that a passage shares with the claim, minus one."""

    def rerank(self, query, passages):
        said = content_words(query)
        scored = [replace(one, score=len(said & content_words(f"{one.title} {one.text}")) - 1.0) for one in passages]
        return tuple(sorted(scored, key=lambda one: -one.score))


def over(judge) -> EvidenceJudge:
    """Return the evidence judge with `judge` as its model."""
    return EvidenceJudge(judge, SharedWords())
