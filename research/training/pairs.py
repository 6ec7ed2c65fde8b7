"""Claim and evidence pairs for the judge from published data sets; judge_examples.py makes prompts of them.

A pair's label is one of three classes, or NOT_SUPPORTED where a data set merges refuted and unproven (HoVer), which
trains "anything but supports". AVeriTeC is not read, because its licence forbids commercial use.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SUPPORTED, REFUTED, NOT_ENOUGH, NOT_SUPPORTED = "SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE", "NOT_SUPPORTED"
SOURCES = ("hover_dev", "feverous_s_dev", "fool_me_twice_dev", "fever_symmetric", "wice_dev")
TRAINING_LABELS = (SUPPORTED, REFUTED, NOT_ENOUGH, NOT_SUPPORTED)
"""Rows with other labels are left out, such as WiCE's partly supported ones."""
SWAPPED_SHARE = 0.7
"""Share of the supported claims over several pages that give a second pair, with another claim's name or number."""
DROPPED_SHARE, OTHER_TEXTS_SHARE, OTHER_EVIDENCE_SHARE = 0.4, 0.3, 0.12
"""Shares of the claims that give a second pair without one passage, with other texts, with another claim's evidence."""
HELD_OUT_SHARE = 0.12
MAX_TRAINING_HOPS = 3
"""Claims with more hops are only measured: they would take a quarter of the training time and teach little."""

Passages = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim with its (title, text) passages, label and data set; training leaves out what is held out."""

    source: str
    claim: str
    passages: Passages
    label: str
    held_out: bool


def is_held_out(key: str, share: float = HELD_OUT_SHARE) -> bool:
    """Return whether `key` is held out, decided by its hash: the same on every machine and in every data set."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) / 2**32 < share


def row_is_held_out(row_id: str, group: str | None = None, hops: int | None = None) -> bool:
    """Return whether a row is held out, by the hash of its group or id, and by its number of hops."""
    return is_held_out(group or row_id) or (hops or 0) > MAX_TRAINING_HOPS


def read_rows(path: Path) -> Iterator[dict]:
    """Yield the rows of a JSONL file. Raises ValueError with the line number for an invalid line."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path.name}, line {number}: not JSON ({error.msg})") from error


def pairs_from_data(folder: Path, rng: random.Random) -> list[Pair]:
    """Return the gold pairs of every source, with the not-enough and swapped pairs derived from them."""
    pairs: list[Pair] = []
    for source in SOURCES:
        rows = [row for row in read_rows(folder / f"{source}.jsonl") if _is_usable(row)]
        gold = [_gold_pair(source, row) for row in rows]
        pairs += gold
        pairs += list(_not_enough_pairs(rows, gold, rng))
        pairs += list(_swapped_pairs([pair for pair in gold if len(pair.passages) > 1], rng))
    return pairs


def _is_usable(row: dict) -> bool:
    return bool(row.get("evidence")) and row["label"] in TRAINING_LABELS


def _gold_pair(source: str, row: dict) -> Pair:
    passages = tuple((part["title"], part["text"]) for part in row["evidence"])
    name = f"{source}-{row['hops']}hop" if row.get("hops") else source
    held_out = row_is_held_out(str(row["id"]), row.get("group"), row.get("hops"))
    return Pair(name, row["claim"], passages, row["label"], held_out)


def _not_enough_pairs(rows: Sequence[dict], gold: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Yield pairs that lack a gold passage, or have other retrieved texts or another claim's evidence in its place."""
    for row, pair in zip(rows, gold, strict=True):
        drawn = rng.random()
        if len(pair.passages) > 1 and pair.label == SUPPORTED and drawn < DROPPED_SHARE:
            dropped = rng.randrange(len(pair.passages))
            yield _not_enough_pair(pair, pair.passages[:dropped] + pair.passages[dropped + 1 :])
        elif row.get("retrieved") and drawn < OTHER_TEXTS_SHARE:
            gold_texts = {part["text"].strip() for part in row["evidence"]}
            others = [text for text in row["retrieved"] if text.strip() not in gold_texts]
            if others:
                yield _not_enough_pair(pair, tuple((pair.passages[0][0], text) for text in others[:3]))
        elif drawn > 1 - OTHER_EVIDENCE_SHARE:
            others = [p for p in gold if p.held_out == pair.held_out and p.claim != pair.claim]
            if others:  # a very small set has none
                yield _not_enough_pair(pair, rng.choice(others).passages)


NAME = re.compile(r"\b[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*")
NUMBER = re.compile(r"\b\d{2,4}\b")


def _swapped_pairs(gold: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Yield supported claims with a name or number replaced by another claim's, which the evidence lacks.

    HoVer's annotators made most of its unsupported claims like this (Jiang et al., EMNLP 2020, section 3.2).
    """
    for pair in gold:
        if pair.label != SUPPORTED or rng.random() > SWAPPED_SHARE:
            continue
        other = rng.choice([p for p in gold if p.held_out == pair.held_out])
        evidence = " ".join(f"{title} {text}" for title, text in pair.passages)
        swaps = [
            pair.claim[: old.start()] + new[0] + pair.claim[old.end() :]
            for kind in (NAME, NUMBER)
            for old in kind.finditer(pair.claim)
            for new in kind.finditer(other.claim)
            if old.start() and new.start() and new[0] != old[0] and new[0] not in evidence
        ]
        if swaps:
            yield Pair(f"{pair.source}-swapped", rng.choice(swaps), pair.passages, NOT_SUPPORTED, pair.held_out)


def _not_enough_pair(pair: Pair, passages: Passages) -> Pair:
    return Pair(f"{pair.source}-lacking", pair.claim, passages, NOT_ENOUGH, pair.held_out)
