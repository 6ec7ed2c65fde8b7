"""A judge that is told what to say, for the tests of whatever asks one."""

from __future__ import annotations


class ScriptedJudge:
    """Implements EntailmentModel: says the same of every pair, and keeps what it was asked."""

    def __init__(self, *probabilities: float) -> None:
        self.probabilities = probabilities
        self.asked = []

    def classify(self, pairs):
        self.asked += pairs
        return [self.probabilities for _ in pairs]
