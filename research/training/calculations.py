"""Make the examples from which the local model learns to write what a claim says of the answers' numbers.

The rows of research/claims/calculations.jsonl were written by reading claims of `vital_claims.jsonl` with their
recorded questions and answers, and kept where they give the recorded label. A row may have a claim of its own, or pairs
of question and answer of its own: most of those ask for another thing than the claim needs. The recorded pairs are also
given with one too few, as examples of NONE, with one of another claim too many, and in another order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.modules import transcript as inference
from app.modules.calculation import Program, is_in
from research.claims.data import CLAIMS_FILE, VitalClaim, read_claims
from research.training.files import require_vital_claim, rows_of, text_in
from research.training.held_out import is_held_out
from research.training.transcripts import Continuation, Example, joined

ROWS = Path(__file__).parents[1] / "claims" / "calculations.jsonl"
SOURCE = "calculation"
HELD_OUT_SHARE = 0.05
TOO_FEW_SHARE, TOO_MANY_SHARE, MIXED_SHARE = 0.25, 0.3, 0.5

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Calculated:
    """What a claim says in numbers of its answers, or NONE; claim and pairs are those recorded for `id` where None."""

    id: str
    text: str
    claim: str | None = None
    pairs: tuple[Pair, ...] | None = None

    @classmethod
    def read(cls, row: dict[str, Any]) -> Calculated:
        """Raise ValueError for a row that lacks a part or calculates nothing."""
        text = text_in(row, "calculation")
        if text != inference.NONE and Program.read(text) is None:
            raise ValueError("no calculation")
        pairs = tuple((question, answer) for question, answer in row["pairs"]) if "pairs" in row else None
        return cls(text_in(row, "id"), text, text_in(row, "claim") if "claim" in row else None, pairs)


def examples(data: Path, epochs: int, seed: int) -> Iterator[Example]:
    """Yield the examples of each epoch in turn, shuffled, then the held-out ones; twins are held out together.

    Raises InvalidInput for a file that is missing or has an invalid row.
    """
    rows_of(data / CLAIMS_FILE, require_vital_claim)
    by_id = {claim.id: claim for claim in read_claims(data / CLAIMS_FILE) if claim.split == "train"}
    rows = [row for row in rows_of(ROWS, Calculated.read) if row.id in by_id]
    rng = random.Random(seed)
    learned = [row for row in rows if not is_held_out(by_id[row.id].group, HELD_OUT_SHARE)]
    others = [pair for row in learned for pair in pairs_of(by_id[row.id])]
    for _ in range(epochs):
        rng.shuffle(learned)
        for row in learned:
            yield from _varied(row, by_id[row.id], others, rng)
    for row in rows:
        if row not in learned:
            claim = by_id[row.id]
            yield _example(row, claim, row.pairs or pairs_of(claim), held_out=True)


def pairs_of(claim: VitalClaim) -> list[Pair]:
    return [(asked.question, asked.answer) for asked in claim.questions if asked.answer]


def _varied(row: Calculated, claim: VitalClaim, others: Sequence[Pair], rng: random.Random) -> Iterator[Example]:
    pairs = list(row.pairs or pairs_of(claim))
    if rng.random() < MIXED_SHARE:
        rng.shuffle(pairs)
    program = Program.read(row.text)
    needed = (
        [pair for pair in pairs if any(is_in(number, pair[1]) for number in program.values.values())] if program else []
    )
    if row.pairs is None and len(needed) > 1 and rng.random() < TOO_FEW_SHARE:
        missing = rng.choice(needed)
        fewer = [pair for pair in pairs if pair != missing]
        yield _example(replace(row, text=inference.NONE), claim, [*fewer, rng.choice(others)])
    if rng.random() < TOO_MANY_SHARE:
        pairs.insert(rng.randint(0, len(pairs)), rng.choice(others))
    yield _example(row, claim, pairs)


def _example(row: Calculated, claim: VitalClaim, pairs: Sequence[Pair], held_out: bool = False) -> Example:
    prompt = inference.before_calculation(row.claim or claim.claim, pairs)
    (parts,) = joined([Continuation(prompt, f" {in_order(row.text, pairs)}\n", 1.0)])
    return Example(SOURCE, parts, held_out)


def in_order(text: str, pairs: Sequence[Pair]) -> str:
    """Return the program with its values in the order of the answers that have them."""
    program = Program.read(text)
    if program is None:
        return text
    *assigned, comparison = text.split("; ")
    numbers = program.values.values()
    first = [next((at for at, pair in enumerate(pairs) if is_in(number, pair[1])), 0) for number in numbers]
    ordered = [assignment for _, assignment in sorted(zip(first, assigned, strict=True), key=lambda each: each[0])]
    return "; ".join([*ordered, comparison])
