"""Read `vital_claims.jsonl`, split it so that no lead is in two splits, and sample claims with their twins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from app.text.sentences import sentences

Split = Literal["train", "dev", "test"]
Sample = Literal["mixed", "hard"]
NOT_ENOUGH = "NOT_ENOUGH_EVIDENCE"
CLAIMS_FILE = "vital_claims.jsonl"
WRITTEN = Path(__file__).with_name("written.jsonl")
"""Further claims over leads of the training split, written for this repository."""
TEST_SHARE = 0.12
DEV_SHARE = 0.08


@dataclass(frozen=True, slots=True)
class Asked:
    """A recorded question; answer and title are None where the lead has no answer."""

    question: str
    answer: str | None
    title: str | None


@dataclass(frozen=True, slots=True)
class VitalClaim:
    """A claim with its label, leads (title, text), questions in order, and the verbatim spans that decide it."""

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
        """Return the indices of the sentences with a deciding span, by title."""
        return {title: [i for i, s in enumerate(split_lead(text)) if self._decides(s)] for title, text in self.leads}

    def gold_evidence(self) -> list[tuple[str, str]]:
        """Return (title, text) of each lead, cut to its first and deciding sentences; whole if no sentence decides."""
        deciding = self.deciding_sentences()
        if not any(deciding.values()):
            return list(self.leads)
        return [(title, _cut_to(text, {0, *deciding[title]})) for title, text in self.leads]

    def _decides(self, sentence: str) -> bool:
        return any(span in sentence or sentence in span for span in self.decisive)


@lru_cache(maxsize=8192)
def split_lead(text: str) -> tuple[str, ...]:
    """Split a lead into sentences, cached."""
    return tuple(sentences(text))


def _cut_to(text: str, places: set[int]) -> str:
    return " ".join(sentence for place, sentence in enumerate(split_lead(text)) if place in places)


def read_claims(path: Path) -> list[VitalClaim]:
    """Return all claims with their splits, and those of WRITTEN whose leads are all in the training split."""
    rows = _lines(path)
    split_of = split_by_titles([[lead["title"] for lead in row["evidence"]] for row in rows])
    leads = {
        lead["title"]: lead["text"] for row in rows for lead in row["evidence"] if split_of[lead["title"]] == "train"
    }
    rows += [_written(row, leads) for row in _lines(WRITTEN) if leads.keys() >= set(row["titles"])]
    return [_claim(row, split_of[row["evidence"][0]["title"]]) for row in rows]


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _written(row: dict, leads: Mapping[str, str]) -> dict:
    """Complete a row of WRITTEN, which has only the titles of its leads, to one of `vital_claims.jsonl`."""
    name = hashlib.sha256(row["claim"].encode()).hexdigest()[:12]
    count = len(row["titles"])
    # Samples and the training of the question model choose claims over one lead by the style `plain`.
    style, kind = ("written", "two-hop") if count > 1 else ("plain", "written")
    same = {"id": f"{WRITTEN.stem}-{name}", "kind": row.get("kind", kind), "style": style, "hops": count}
    return row | same | {"evidence": [{"title": title, "text": leads[title]} for title in row["titles"]]}


def is_written(row: VitalClaim) -> bool:
    """Return whether the claim is one of WRITTEN."""
    return row.id.startswith(WRITTEN.stem)


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
    """Return the split of each title. Titles that share rows are in one split, chosen by a hash of the first title."""
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


def sample_claims(claims: Iterable[VitalClaim], split: Split, kind: Sample, rows: int) -> list[VitalClaim]:
    """Return about `rows` claims of the split in a fixed order; smaller samples are subsets.

    A unit, the claims of one group and style, is sampled as a whole. "mixed": five sixths decided, half of them `plain`
    and half over two titles, and one sixth undecided, nearly all of the style `first`. "hard": pairs and undecided
    claims of the styles `first` and `balanced`.
    """
    units = _units(row for row in claims if row.split == split)
    if kind == "hard":
        return _in_order(_first_rows([unit for unit in units if unit[0].style in ("first", "balanced")], rows))
    undecided = [unit for unit in units if unit[0].label == NOT_ENOUGH]
    decided = [unit for unit in units if unit[0].label != NOT_ENOUGH]
    two_titles = [unit for unit in decided if unit[0].hops > 1]
    plain = [unit for unit in decided if unit[0].style == "plain" and unit[0].hops == 1]
    pairs = round(rows * 5 / 12)
    chosen = _first_rows(plain, 2 * (pairs // 2)) + _first_rows(two_titles, 2 * (pairs - pairs // 2))
    return _in_order(chosen + _first_rows(undecided, rows - 2 * pairs))


def _units(claims: Iterable[VitalClaim]) -> list[list[VitalClaim]]:
    """Return the claims by group and style, in a pseudo-random order that is independent of the file's."""
    units: dict[tuple[str, str], list[VitalClaim]] = {}
    for row in claims:
        units.setdefault((row.group, row.style), []).append(row)
    return sorted(units.values(), key=_shuffling_key)


def _shuffling_key(unit: Sequence[VitalClaim]) -> bytes:
    return hashlib.sha256(f"sample {unit[0].group} {unit[0].style}".encode()).digest()


def _first_rows(units: Sequence[list[VitalClaim]], rows: int) -> list[list[VitalClaim]]:
    """Return the first units that together have `rows` claims."""
    taken, count = [], 0
    for unit in units:
        if count >= rows:
            break
        taken.append(unit)
        count += len(unit)
    return taken


def _in_order(units: Sequence[list[VitalClaim]]) -> list[VitalClaim]:
    return [row for unit in sorted(units, key=_shuffling_key) for row in unit]
