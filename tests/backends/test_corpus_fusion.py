"""Reciprocal rank fusion over several corpora: no duplicate texts, and each index opened once."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.backends.corpus.bm25 import Bm25Retriever
from app.backends.corpus.registry import CorpusRegistry, FusedRetriever
from app.domain.errors import ModelUnavailable
from app.domain.model import Passage


class Ranking:
    """A retriever that returns the same ranking for every query."""

    def __init__(self, name: str, *texts: str, score: float = 1.0) -> None:
        self.passages = tuple(Passage(text, text, name, score=score) for text in texts)

    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]:
        return self.passages[:k]


class Missing:
    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]:
        raise ModelUnavailable("The index of the corpus b is missing", fix="make corpus")


def texts(found) -> list[str]:
    return [passage.text for passage in found]


def test_rankings_are_interleaved_regardless_of_their_scores():
    fused = FusedRetriever([Ranking("a", "a1", "a2", score=9.0), Ranking("b", "b1", "b2", score=0.1)])
    assert texts(fused.retrieve("q", 4)) == ["a1", "b1", "a2", "b2"]


def test_a_text_in_both_corpora_is_returned_once_first_and_from_the_first_corpus():
    fused = FusedRetriever([Ranking("a", "a1", "both  Have"), Ranking("b", "b1", "Both have")])
    found = fused.retrieve("q", 4)
    assert texts(found) == ["both  Have", "a1", "b1"]
    assert found[0].source == "a"


def test_scores_are_the_sums_of_reciprocal_ranks():
    fused = FusedRetriever([Ranking("a", "x", "y"), Ranking("b", "y")])
    assert {each.text: each.score for each in fused.retrieve("q", 2)} == {"y": 1 / 62 + 1 / 61, "x": 1 / 61}


def test_a_duplicate_text_within_one_corpus_counts_once():
    fused = FusedRetriever([Ranking("a", "x", "X", "y"), Ranking("b", "y")])
    assert texts(fused.retrieve("q", 3)) == ["y", "x"]


def test_a_missing_corpus_raises_an_error():
    with pytest.raises(ModelUnavailable, match="b is missing"):
        FusedRetriever([Ranking("a", "a1"), Missing()]).retrieve("q", 1)


def test_live_wikipedia_that_is_not_offered_names_the_setting_that_offers_it(tmp_path: Path):
    with pytest.raises(ModelUnavailable) as raised:
        CorpusRegistry(tmp_path).over(["vital", "wikipedia-live"])
    assert raised.value.fix == "the setting WIKIPEDIA, which is off"


def test_a_registry_opens_each_corpus_once_at_its_first_search(tmp_path: Path):
    registry = CorpusRegistry(tmp_path)
    assert registry.retriever("vital") is registry.over(["vital"])
    assert isinstance(registry.over(["vital"]), Bm25Retriever)
    assert isinstance(registry.over(["vital", "rivers"]), FusedRetriever)
