"""A scripted local model, for tests of the modules that continue a transcript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.domain.ports import Bounds
from app.modules.local import Calibration, LocalJudge
from app.text.sentences import content_words

EQUAL = Calibration(transcript=0.5, sources=0.5, bias=(0.0, 0.0, 0.0), bounds=Bounds(0.6, 0.6))
"""The geometric mean of both readings."""


class ScriptedModel:
    """Implements TranscriptModel; records its prompts.

    `replies` follow a prompt's last line ("Question:"); `readings` are the probabilities by a part of the prompt, the
    first part that it holds, and else `otherwise`.
    """

    def __init__(
        self,
        replies: Mapping[str, str | Sequence[str]] | None = None,
        readings: Mapping[str, tuple[float, ...]] | None = None,
        otherwise: tuple[float, ...] = (0.2, 0.2, 0.6),
    ) -> None:
        self.replies = {line: [said] if isinstance(said, str) else list(said) for line, said in (replies or {}).items()}
        self.readings, self.otherwise = dict(readings or {}), otherwise
        self.prompts: list[str] = []

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = (), without: str = "") -> str:
        self.prompts.append(prompt)
        said = self.replies.get(prompt.rpartition("\n")[2], [""])
        return said.pop(0) if len(said) > 1 else said[0]

    def probabilities(self, prompt: str, words: Sequence[str]) -> tuple[float, ...]:
        self.prompts.append(prompt)
        return next((found for part, found in self.readings.items() if part in prompt), self.otherwise)


def judge_of(*probabilities: float, calibration: Calibration = EQUAL) -> LocalJudge:
    """Return a judge whose model gives these probabilities for every prompt."""
    return LocalJudge(ScriptedModel(otherwise=probabilities), calibration)


class SharedWords:
    """Implements Reranker: the number of words that a passage shares with the query, minus one."""

    def rerank(self, query, passages):
        said = content_words(query)
        scored = [replace(one, score=len(said & content_words(f"{one.title} {one.text}")) - 1.0) for one in passages]
        return tuple(sorted(scored, key=lambda one: -one.score))
