"""Make the examples from which the local model learns what remains of a claim once a question is answered.

The rows of research/claims/remaining.jsonl were written by reading each claim of `vital_claims.jsonl` and of
research/claims/written.jsonl with one of its recorded questions and answers. Claims that their one question settles
are examples of SAME.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.modules import transcript as inference
from research.claims.data import CLAIMS_FILE, VitalClaim, read_claims
from research.training.files import require_vital_claim, rows_of, text_in
from research.training.held_out import is_held_out
from research.training.transcripts import Continuation, Example, joined

ROWS = Path(__file__).parents[1] / "claims" / "remaining.jsonl"
SOURCE = "remaining"
HELD_OUT_SHARE = 0.05
SETTLED_SHARE = 0.1
"""Examples of claims that their question settles, for each one of ROWS."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What remains of the claim `id` after its question number `asked`, or SAME."""

    id: str
    asked: int
    text: str

    @classmethod
    def read(cls, row: dict[str, Any]) -> Remaining:
        """Raise ValueError for a row that lacks a part."""
        if not isinstance(row.get("asked"), int):
            raise ValueError("no asked")
        return cls(text_in(row, "id"), row["asked"], text_in(row, "remaining"))


def examples(data: Path, epochs: int, seed: int) -> Iterator[Example]:
    """Yield the examples of each epoch in turn, shuffled, then the held-out ones; twins are held out together.

    Raises InvalidInput for a file that is missing or has an invalid row.
    """
    rows_of(data / CLAIMS_FILE, require_vital_claim)
    by_id = {claim.id: claim for claim in read_claims(data / CLAIMS_FILE) if claim.split == "train"}
    rows = [row for row in rows_of(ROWS, Remaining.read) if row.id in by_id]
    rng = random.Random(seed)
    settled = [each for each in by_id.values() if each.hops == 1 and each.questions[0].answer]
    chosen = rng.sample(settled, min(len(settled), round(SETTLED_SHARE * len(rows))))
    rows += [Remaining(each.id, 0, inference.SAME) for each in chosen]
    held_out = [row for row in rows if is_held_out(by_id[row.id].group, HELD_OUT_SHARE)]
    learned = [row for row in rows if row not in held_out]
    for _ in range(epochs):
        rng.shuffle(learned)
        for row in learned:
            yield _example(row, by_id)
    for row in held_out:
        yield _example(row, by_id, held_out=True)


def _example(row: Remaining, by_id: Mapping[str, VitalClaim], held_out: bool = False) -> Example:
    claim = by_id[row.id]
    asked = claim.questions[row.asked]
    prompt = inference.before_remaining(claim.claim, asked.question, asked.answer or inference.NOT_FOUND)
    (parts,) = joined([Continuation(prompt, f" {row.text}\n", 1.0)])
    return Example(SOURCE, parts, held_out)
