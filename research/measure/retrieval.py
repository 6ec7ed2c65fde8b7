"""Measure recall and time of BM25 with and without reranking.

    python -m research.measure.retrieval [--index instance/corpora/vital] [--depths 10 20] [--threads 2]

The questions in retrieval_questions.jsonl are our own, like those of the question generator, with the titles of the
right articles. A test checks that these contain the answers. docs/how-it-works.md quotes the figures.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from app.backends.corpus.bm25 import Bm25Retriever
from app.backends.local.reranker import CrossEncoderReranker
from app.domain.model import Passage

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = Path(__file__).with_name("retrieval_questions.jsonl")
RANKS = (1, 3, 5)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--index", type=Path, default=ROOT / "instance" / "corpora" / "vital")
    options.add_argument(
        "--depths", type=int, nargs="+", default=[10, 20], help="Number of BM25's passages that are reranked"
    )
    options.add_argument("--threads", type=int, default=2)
    chosen = options.parse_args()
    retriever, reranker = Bm25Retriever(chosen.index), CrossEncoderReranker(threads=chosen.threads)
    retriever.open()
    reranker.load()
    asked = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    retrieved, seconds = zip(
        *(timed(retriever.retrieve, row["question"], max(chosen.depths)) for row in asked), strict=True
    )
    print(f"{len(asked)} questions\n\n| | recall@1 | recall@3 | recall@5 | median seconds |\n|---|---|---|---|---|")
    report("BM25", asked, retrieved, seconds)
    for depth in chosen.depths:
        pairs = zip(asked, retrieved, strict=True)
        ranked, seconds = zip(
            *(timed(reranker.rerank, row["question"], hits[:depth]) for row, hits in pairs), strict=True
        )
        report(f"first {depth} reranked", asked, ranked, seconds)


def timed(call, *arguments) -> tuple[tuple[Passage, ...], float]:
    """Return the result of the call and the seconds it took."""
    started = time.perf_counter()
    return call(*arguments), time.perf_counter() - started


def report(name: str, asked: Sequence[dict], found: Sequence[tuple[Passage, ...]], seconds: Sequence[float]) -> None:
    """Print a row: recall at 1, 3 and 5, and the median time."""
    shares = [
        statistics.mean(
            any(hit.title in row["titles"] for hit in hits[:rank]) for row, hits in zip(asked, found, strict=True)
        )
        for rank in RANKS
    ]
    print(
        f"| {name} | {' | '.join(f'{share:.2f}' for share in shares)} | {statistics.median(seconds):.3f} |", flush=True
    )


if __name__ == "__main__":
    main()
