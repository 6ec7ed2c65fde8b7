"""Claim and evidence pairs for the judge, from the older data sets; judge_examples.py makes prompts of them.

A pair's label is one of three classes, or NOT_SUPPORTED where a data set merges refuted and unproven (HoVer): that
one trains "anything but supports". AVeriTeC is non-commercial, so nothing here reads it.
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
TRAINED_LABELS = (SUPPORTED, REFUTED, NOT_ENOUGH, NOT_SUPPORTED)
"""Partly supported (WiCE) is none of them and must not be folded into one."""
SWAPPED_SHARE = 0.7
"""Of the supported claims about two and more pages, so many also come with a name or a number of another claim's."""
HELD_OUT_SHARE = 0.12
# Four-hop claims take a quarter of the training time for the set on which least is learned; they are measured only.
MOST_HOPS_TRAINED = 3

Passages = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, its (title, text) passages, a label, the set it comes from, and whether training may see it."""

    source: str
    claim: str
    passages: Passages
    label: str
    held_out: bool


def is_held_out(key: str, share: float = HELD_OUT_SHARE) -> bool:
    """A split by hash, so that it is the same on every machine and for every later data set."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) / 2**32 < share


def row_is_held_out(row_id: str, group: str | None = None, hops: int | None = None) -> bool:
    """Whether training never sees a data set's row: by the hash of its group or id, and by its number of hops."""
    return is_held_out(group or row_id) or (hops or 0) > MOST_HOPS_TRAINED


def read_rows(path: Path) -> Iterator[dict]:
    """The rows of a JSONL file; a broken line is named by its number (ValueError)."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path.name}, line {number}: not JSON ({error.msg})") from error


def pairs_from_data(folder: Path, rng: random.Random) -> list[Pair]:
    """The gold pairs of every source, each source with not-enough and swapped pairs made from its own claims."""
    pairs: list[Pair] = []
    for source in SOURCES:
        rows = [row for row in read_rows(folder / f"{source}.jsonl") if _is_trained(row)]
        gold = [_gold_pair(source, row) for row in rows]
        pairs += gold
        pairs += list(_lacking(rows, gold, rng))
        pairs += list(_swapped([pair for pair in gold if len(pair.passages) > 1], rng))
    return pairs


def _is_trained(row: dict) -> bool:
    return bool(row.get("evidence")) and row["label"] in TRAINED_LABELS


def _gold_pair(source: str, row: dict) -> Pair:
    passages = tuple((part["title"], part["text"]) for part in row["evidence"])
    name = f"{source}-{row['hops']}hop" if row.get("hops") else source
    held_out = row_is_held_out(str(row["id"]), row.get("group"), row.get("hops"))
    return Pair(name, row["claim"], passages, row["label"], held_out)


def _lacking(rows: Sequence[dict], gold: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Not-enough pairs: a gold paragraph left out, the page's other sentences, or another claim's evidence."""
    for row, pair in zip(rows, gold, strict=True):
        drawn = rng.random()
        if len(pair.passages) > 1 and pair.label == SUPPORTED and drawn < 0.4:
            out = rng.randrange(len(pair.passages))
            yield _with(pair, tuple(p for place, p in enumerate(pair.passages) if place != out))
        elif row.get("retrieved") and drawn < 0.3:
            told = {part["text"].strip() for part in row["evidence"]}
            others = [text for text in row["retrieved"] if text.strip() not in told]
            yield _with(pair, tuple((pair.passages[0][0], text) for text in others[:3]))
        elif drawn > 0.88:
            others = [p for p in gold if p.held_out == pair.held_out and p.claim != pair.claim]
            if others:  # a very small set has none
                yield _with(pair, rng.choice(others).passages)


NAME = re.compile(r"\b[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*")
NUMBER = re.compile(r"\b\d{2,4}\b")


def _swapped(gold: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Supported claims with one name or number of another claim in place of theirs, which the evidence lacks.

    This is how HoVer's own annotators made most claims that are not supported (Jiang et al., EMNLP 2020, section 3.2).
    """
    for pair in gold:
        if pair.label != SUPPORTED or rng.random() > SWAPPED_SHARE:
            continue
        other = rng.choice([p for p in gold if p.held_out == pair.held_out])
        evidence = " ".join(f"{title} {text}" for title, text in pair.passages)
        swaps = [
            pair.claim[: old.start()] + new[0] + pair.claim[old.end() :]
            for kind in (NAME, NUMBER)
            for old in list(kind.finditer(pair.claim))
            for new in list(kind.finditer(other.claim))
            if old.start() and new.start() and new[0] not in evidence
        ]
        if swaps:
            yield Pair(f"{pair.source}-swapped", rng.choice(swaps), pair.passages, NOT_SUPPORTED, pair.held_out)


def _with(pair: Pair, passages: Passages) -> Pair:
    return Pair(f"{pair.source}-lacking", pair.claim, passages, NOT_ENOUGH, pair.held_out)
