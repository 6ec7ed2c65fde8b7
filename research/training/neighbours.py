"""Sentences that a search for a claim brings beside those that decide it: what the judge has to read past.

python -m research.training.neighbours --data DATA --out instance/training/neighbours.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.config.settings import Settings
from app.container.container import Container
from app.domain.ports import Retriever
from app.text.sentences import content_words
from research.claims.data import VitalClaim, read_claims, split_lead

DEPTH, KEPT = 8, 8


def neighbours(row: VitalClaim, retriever: Retriever) -> list[tuple[str, str]]:
    """Return (title, sentence) of other articles that BM25 finds for the claim, those with most shared words first."""
    own, said = {title for title, _ in row.leads}, content_words(row.claim)
    found = []
    for passage in retriever.retrieve(row.claim, DEPTH):
        if passage.title not in own:
            for sentence in split_lead(passage.text):
                words = content_words(f"{passage.title} {sentence}")
                found.append((len(words & said) / (len(words) + 8) ** 0.5, passage.title, sentence))
    return [(title, sentence) for _, title, sentence in sorted(found, reverse=True)[:KEPT]]


def main() -> None:
    """Write {claim id: [[title, sentence], ...]}; what the file has already is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    retriever = Container(Settings.from_env({}))._registry.retriever("vital")
    known = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    rows = read_claims(options.data / "vital_claims.jsonl")
    found = {row.id: known[row.id] if row.id in known else neighbours(row, retriever) for row in rows}
    options.out.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
