"""Distractors for training: they are written to the given file, and those of known claims are kept."""

from __future__ import annotations

import json
from pathlib import Path

from app.domain.model import Passage
from research.claims.data import VitalClaim
from research.training.neighbours import write_neighbours

LEADS = (("Emma", "Emma is a novel."),)


class Search:
    """A Retriever that finds the claim's own article and another one."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def retrieve(self, query: str, k: int) -> list[Passage]:
        self.queries.append(query)
        return [Passage("Emma is a novel.", "Emma", "vital"), Passage("Bath is a city.", "Bath", "vital")]


def claim(name: str) -> VitalClaim:
    return VitalClaim(name, f"Claim {name}.", "SUPPORTED", "", "g", "first", 1, LEADS, (), (), "", "train")


def test_sentences_of_other_articles_are_written_to_a_new_folder_and_known_claims_are_not_searched_again(
    tmp_path: Path,
) -> None:
    out, search = tmp_path / "new" / "neighbours.json", Search()
    write_neighbours([claim("a")], search, out)
    write_neighbours([claim("a"), claim("b")], search, out)
    assert search.queries == ["Claim a.", "Claim b."]
    assert json.loads(out.read_text()) == {"a": [["Bath", "Bath is a city."]], "b": [["Bath", "Bath is a city."]]}
