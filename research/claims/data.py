"""Read `vital_claims.jsonl` and split it by connected titles, so that no lead is in two splits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from app.language.sentences import sentences

Split = Literal["train", "dev", "test"]
TEST_SHARE = 0.12
DEV_SHARE = 0.08


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in the order to ask; answer and title are None where the lead does not say."""

    question: str
    answer: str | None
    title: str | None


@dataclass(frozen=True, slots=True)
class VitalClaim:
    """A claim with its label, leads (title, text), questions, and the words that decide, verbatim."""

    id: str
    claim: str
    label: str
    kind: str
    group: str
    style: str
    hops: int
    leads: tuple[tuple[str, str], ...]
    questions: tuple[Asked, ...]
    decisive: tuple[str, ...]
    explanation: str
    split: Split

    def deciding_sentences(self) -> dict[str, list[int]]:
        """Per title the places of the sentences that hold a deciding span, in order."""
        return {title: [i for i, s in enumerate(split_lead(text)) if self._decides(s)] for title, text in self.leads}

    def _decides(self, sentence: str) -> bool:
        return any(span in sentence or sentence in span for span in self.decisive)


@lru_cache(maxsize=8192)
def split_lead(text: str) -> tuple[str, ...]:
    """The sentences of a lead."""
    return tuple(sentences(text))


def read_claims(path: Path) -> list[VitalClaim]:
    """All rows, each with its split: 12% test, 8% development, the rest for training."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    of = split_by_titles([[lead["title"] for lead in row["evidence"]] for row in rows])
    return [_claim(row, of[row["evidence"][0]["title"]]) for row in rows]


def _claim(row: dict, split: Split) -> VitalClaim:
    kept = {name: row[name] for name in ("id", "claim", "label", "kind", "group", "style", "hops", "explanation")}
    return VitalClaim(
        **kept,
        leads=tuple((lead["title"], lead["text"]) for lead in row["evidence"]),
        questions=tuple(Asked(asked["question"], asked["answer"], asked["title"]) for asked in row["questions"]),
        decisive=tuple(row["decisive"]),
        split=split,
    )


def split_by_titles(rows: Iterable[Sequence[str]]) -> dict[str, Split]:
    """The split of each title. Titles that share a row are in one split, chosen by a hash of the first of them."""
    parent: dict[str, str] = {}

    def root(title: str) -> str:
        parent.setdefault(title, title)
        while parent[title] != title:
            title = parent[title]
        return title

    for titles in rows:
        first = root(titles[0])
        for other in titles[1:]:
            low, high = sorted((root(other), first))
            parent[high] = first = low
    return {title: _split_of_hash(root(title)) for title in parent}


def _split_of_hash(key: str) -> Split:
    share = int.from_bytes(hashlib.sha256(f"vital {key}".encode()).digest()[:4]) / 2**32
    return "test" if share < TEST_SHARE else "dev" if share < TEST_SHARE + DEV_SHARE else "train"
