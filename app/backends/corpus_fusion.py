"""Several corpora searched as one, their rankings fused: scores of different indexes do not compare, ranks do.

Reciprocal rank fusion: Cormack, Clarke and Buettcher, 2009, "Reciprocal Rank Fusion outperforms Condorcet and
individual Rank Learning Methods" (SIGIR): a passage's score is the sum of 1 / (k + rank) over the rankings it is in.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.backends.bm25 import DEFAULT_JAVA, Bm25Retriever, Java
from app.backends.corpora import folder_of
from app.domain.model import Passage
from app.domain.ports import Retriever

K = 60
"""The paper's constant: how much less the first ranks matter than 1 / rank would have it."""


class FusedRetriever:
    """A Retriever over several others. A text that two of them have comes once, from the first that has it."""

    def __init__(self, retrievers: Sequence[Retriever], k: int = K) -> None:
        self._retrievers = tuple(retrievers)
        self._k = k

    def retrieve(self, query: str, k: int) -> tuple[Passage, ...]:
        """The k best, best first, their fused scores on them. Raises what any of the retrievers raises."""
        passages: dict[str, Passage] = {}
        scores: dict[str, float] = {}
        for retriever in self._retrievers:
            ranked = dict.fromkeys(_key(passages, each) for each in retriever.retrieve(query, k))
            for rank, text in enumerate(ranked, 1):
                scores[text] = scores.get(text, 0.0) + 1 / (self._k + rank)
        best = sorted(scores, key=lambda text: -scores[text])[: max(k, 0)]
        return tuple(replace(passages[text], score=scores[text]) for text in best)


def _key(passages: dict[str, Passage], passage: Passage) -> str:
    """What two passages have in common that say the same; notes the passage when it is the first to."""
    text = " ".join(passage.text.split()).casefold()
    passages.setdefault(text, passage)
    return text


class Shelf:
    """The retrievers of a machine's corpora: one open index for each corpus, opened at its first search."""

    def __init__(self, instance: Path, java: Java = DEFAULT_JAVA) -> None:
        self._instance, self._java = instance, java
        self._lock = threading.Lock()
        self._retrievers: dict[str, Bm25Retriever] = {}

    def retriever(self, name: str) -> Bm25Retriever:
        """The retriever of the corpus of that name, always the same object."""
        with self._lock:
            if name not in self._retrievers:
                self._retrievers[name] = Bm25Retriever(folder_of(self._instance, name), self._java)
            return self._retrievers[name]

    def over(self, names: Sequence[str]) -> Retriever:
        """A retriever over the corpora of those names together; names the first of which must be given."""
        if len(names) == 1:
            return self.retriever(names[0])
        return FusedRetriever([self.retriever(name) for name in names])
