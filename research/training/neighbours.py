"""Collect distractors for the training of judge and selector: what BM25 finds in other articles for each claim.

python -m research.training.neighbours --data DATA --out instance/training/neighbours.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from app.config.settings import load_settings
from app.container.container import corpus_registry
from app.domain.ports import Retriever
from app.text.sentences import content_words
from research.claims.data import CLAIMS_FILE, VitalClaim, read_claims, split_lead

MAX_PASSAGES, MAX_SENTENCES = 8, 8


def neighbours(row: VitalClaim, retriever: Retriever) -> list[tuple[str, str]]:
    """Return (title, sentence) pairs of other articles that BM25 finds, those with most of the claim's words first."""
    own_titles, claim_words = {title for title, _ in row.leads}, content_words(row.claim)
    found = []
    for passage in retriever.retrieve(row.claim, MAX_PASSAGES):
        if passage.title not in own_titles:
            for sentence in split_lead(passage.text):
                words = content_words(f"{passage.title} {sentence}")
                found.append((len(words & claim_words) / (len(words) + 8) ** 0.5, passage.title, sentence))
    return [(title, sentence) for _, title, sentence in sorted(found, reverse=True)[:MAX_SENTENCES]]


def write_neighbours(rows: Sequence[VitalClaim], retriever: Retriever, out: Path) -> None:
    """Write {claim id: [[title, sentence], ...]} to `out`, keeping the entries that the file already has."""
    out.parent.mkdir(parents=True, exist_ok=True)  # before the search, which takes long
    known = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    found = {row.id: known[row.id] if row.id in known else neighbours(row, retriever) for row in rows}
    out.write_text(json.dumps(found), encoding="utf-8")


def main() -> None:
    """Parse the options and search the shipped corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    retriever = corpus_registry(load_settings()).retriever("vital")
    write_neighbours(read_claims(options.data / CLAIMS_FILE), retriever, options.out)


if __name__ == "__main__":
    main()
