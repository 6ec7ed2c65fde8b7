"""Ask the first two questions about 100 two-hop claims of HoVer, for a person to read and judge.

    .venv/bin/python -m benchmarks.two_hop_questions HOVER.jsonl CORPUS --out ASKED.jsonl [--answers ANSWERS.json]

CORPUS is the name of a corpus built from HoVer's paragraphs (`flask --app app corpus build`). The first question is
answered by the real retriever and reader; ANSWERS.json holds what a person read in the gold paragraph where they fail
({claim id: answer}). The claims are drawn by seed, from groups that were not read while the questions were made.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass
from pathlib import Path

from app.evaluation.datasets import Row, read_rows
from app.reasoning.types import Answer, Claim, Hop, HopStatus, RunOptions
from app.settings import load_settings
from app.wiring import Wiring

READ_IN_DEVELOPMENT, BLIND = 60, 100
DEVELOPMENT_SEED, BLIND_SEED = 7, 2026


def blind_claims(rows: list[Row]) -> list[Row]:
    """100 two-hop claims of 100 groups, none of them a group of the 60 claims that were read in development."""
    two = [row for row in rows if row.hops == 2]
    read = {row.group for row in random.Random(DEVELOPMENT_SEED).sample(two, READ_IN_DEVELOPMENT)}
    groups = random.Random(BLIND_SEED).sample(
        sorted({row.group or row.id for row in two if row.group not in read}), BLIND
    )
    first = {}
    for row in two:
        if row.group in groups:
            first.setdefault(row.group, row)
    return list(first.values())


@dataclass(frozen=True)
class Asker:
    """The generator and the answerer of a usual run."""

    wiring: Wiring
    corpus: str
    answers: dict[str, str]

    def asked(self, row: Row) -> dict:
        """Both questions about one claim, the answers to the first, and which answer the second was asked with."""
        claim = Claim(row.claim)
        first = self.wiring.generator.next_question(claim, (), ())
        told = {"id": row.id, "claim": row.claim, "label": row.label, "question_1": first and first.text}
        if first is None:
            return told
        strategy = self.wiring.strategy_for(RunOptions(corpora=(self.corpus,)))
        found = strategy.answerer.answer(first, claim)  # type: ignore[attr-defined]
        used = self.answers.get(row.id) or found.text
        told |= {"found": found.text, "in": found.cited.passage.title if found.cited else None, "answer_1": used}
        if used:
            hop = Hop(1, first, Answer(used), HopStatus.KEPT)
            second = self.wiring.generator.next_question(claim, (hop,), ())
            told["question_2"] = second and second.text
        return told


def main() -> None:
    """Ask about every claim and write a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hover", type=Path)
    parser.add_argument("corpus")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--only-answered", action="store_true", help="only the claims that ANSWERS.json names")
    options = parser.parse_args()
    answers = json.loads(options.answers.read_text(encoding="utf-8")) if options.answers else {}
    asker = Asker(Wiring(load_settings()), options.corpus, answers)
    with options.out.open("w", encoding="utf-8") as out:
        for row in blind_claims(read_rows(options.hover, "hover")):
            if row.id in answers or not options.only_answered:
                out.write(json.dumps(asker.asked(row), ensure_ascii=False) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
