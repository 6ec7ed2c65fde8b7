"""Ask the first two questions about two-hop claims of HoVer, for a person to read and judge.

    .venv/bin/python -m benchmarks.two_hop_questions HOVER.jsonl CORPUS --out ASKED.jsonl [--answers ANSWERS.json]
        [--claims 50 --seed 2027 --not-in benchmarks/questions_read.jsonl | --again 6]

CORPUS is the name of a corpus built from HoVer's paragraphs (`flask --app app corpus build`). As in a run, the first
question is answered, the answer is kept or set aside, and the second question is asked. Where that fails, ANSWERS.json
({claim id: answer}) may give an answer that a person read in the gold paragraph; it is kept. The claims are drawn by
seed from groups that were not read during development and have no claim in the file `--not-in`; or `--again` takes the
claims of an earlier run in questions_read.jsonl.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass
from pathlib import Path

from app.config.settings import load_settings
from app.container.container import Container
from app.domain.model import Answer, Claim, Hop, HopStatus, Question, RunOptions
from research.evaluation.datasets import Row, read_rows

READINGS = Path(__file__).with_name("questions_read.jsonl")
READ_IN_DEVELOPMENT, BLIND = 60, 100
DEVELOPMENT_SEED, BLIND_SEED = 7, 2026


def blind_claims(
    rows: list[Row], count: int = BLIND, seed: int = BLIND_SEED, known: frozenset[str] = frozenset()
) -> list[Row]:
    """Return `count` two-hop claims, one per group.

    Groups of the 60 claims read during development and of claims whose id is in `known` are excluded.
    """
    two = [row for row in rows if row.hops == 2]
    read = {row.group for row in random.Random(DEVELOPMENT_SEED).sample(two, READ_IN_DEVELOPMENT)}
    read |= {row.group for row in two if row.id in known}
    groups = random.Random(seed).sample(sorted({row.group or row.id for row in two if row.group not in read}), count)
    first = {}
    for row in two:
        if row.group in groups:
            first.setdefault(row.group, row)
    return list(first.values())


def claims_of_run(rows: list[Row], run: int) -> list[Row]:
    """Return the claims that were read in an earlier run, in the order of `rows`."""
    kept = map(json.loads, READINGS.read_text(encoding="utf-8").splitlines())
    ids = {reading["id"] for reading in kept if reading["run"] == run}
    return [row for row in rows if row.id in ids]


@dataclass(frozen=True)
class Asker:
    """The generator, the answerer and the validator of a default run."""

    container: Container
    corpus: str
    answers: dict[str, str]

    def ask(self, row: Row) -> dict:
        """Ask both questions about a claim; return them with the answer found and the answer kept.

        As in a run, the second question does not use an answer that the validator set aside; `answer_1` is then None.
        """
        claim = Claim(row.claim)
        first = self.container.generator.next_question(claim, (), ())
        record = {"id": row.id, "claim": row.claim, "label": row.label, "question_1": first and first.text}
        if first is None:
            return record
        hop, found = self._first_hop(claim, first, self.answers.get(row.id))
        kept = hop.status is HopStatus.KEPT
        record |= {
            "found": found.text,
            "in": found.cited.passage.title if found.cited else None,
            "set_aside": hop.reason,
        }
        record["answer_1"] = hop.answer.text if kept and hop.answer else None
        second = self.container.generator.next_question(claim, (hop,) if kept else (), () if kept else (hop,))
        record["question_2"] = second and second.text
        return record

    def _first_hop(self, claim: Claim, question: Question, read: str | None) -> tuple[Hop, Answer]:
        """Return the closed first hop, which has the answer `read` if it is given, and the answer that was found."""
        strategy = self.container.strategy_for(RunOptions(corpora=(self.corpus,)))
        found = strategy.answerer.answer(question, claim)  # type: ignore[attr-defined]
        if read:
            return Hop(1, question, Answer(read), HopStatus.KEPT), found
        hop = Hop(1, question, found)
        judgement = strategy.validator.is_useful(claim, (), hop)  # type: ignore[attr-defined]
        if judgement.holds:
            return hop.closed(HopStatus.KEPT, ""), found
        return hop.closed(HopStatus.SET_ASIDE, judgement.reason), found


def main() -> None:
    """Ask about every claim and write a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hover", type=Path)
    parser.add_argument("corpus")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--only-answered", action="store_true", help="only the claims that ANSWERS.json names")
    parser.add_argument("--claims", type=int, default=BLIND)
    parser.add_argument("--seed", type=int, default=BLIND_SEED)
    parser.add_argument("--not-in", type=Path, help="a file of claims that were read before (questions_read.jsonl)")
    parser.add_argument("--again", type=int, metavar="RUN", help="the claims of this run in questions_read.jsonl")
    options = parser.parse_args()
    answers = json.loads(options.answers.read_text(encoding="utf-8")) if options.answers else {}
    known = options.not_in.read_text(encoding="utf-8").splitlines() if options.not_in else []
    read_before = frozenset(json.loads(line)["id"] for line in known)
    asker = Asker(Container(load_settings()), options.corpus, answers)
    with options.out.open("w", encoding="utf-8") as out:
        rows = read_rows(options.hover, "hover")
        if options.again is not None:
            rows = claims_of_run(rows, options.again)
        else:
            rows = blind_claims(rows, options.claims, options.seed, read_before)
        for row in rows:
            if row.id in answers or not options.only_answered:
                out.write(json.dumps(asker.ask(row), ensure_ascii=False) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
