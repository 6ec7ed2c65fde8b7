"""Measure the share of the question generator's questions that ask for the recorded answer.

A question counts if the reader answers it from the recorded lead with the recorded answer (token F1 of at least 0.5).
The generator gets the recorded questions and answers before it.

python -m research.claims.questions --data DATA --split dev --rows 150
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import get_args

from app.config.settings import Settings
from app.container.container import Container
from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question
from app.domain.ports import QuestionGenerator, Reader
from research.claims.data import CLAIMS_FILE, Split, VitalClaim, read_claims
from research.evaluation.answers import f1

MIN_F1 = 0.5


def main() -> None:
    """Print the shares of first and of later questions that ask for the recorded answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", choices=get_args(Split), default="dev")
    parser.add_argument("--rows", type=int, default=150)
    parser.add_argument("--show", type=int, default=20, help="questions to print")
    options = parser.parse_args()
    container = Container(Settings.from_env({}))
    rows = sample(read_claims(options.data / CLAIMS_FILE), options.split, options.rows)
    right: dict[str, list[bool]] = defaultdict(list)
    seconds = []
    for row in rows:
        for step in range(len(row.questions)):
            started = time.monotonic()
            asked = generated_question(container.generator, row, step)
            seconds.append(time.monotonic() - started)
            found = is_answered(container._own_reader, row, step, asked)
            right["first" if step == 0 else "next"].append(found)
            if len(seconds) <= options.show:
                text = asked.text if asked else None
                print(f"{'+' if found else '-'} {row.claim} | {text} | recorded: {row.questions[step].question}")
    for which, held in right.items():
        print(f"{which}: {sum(held)} of {len(held)} ({sum(held) / len(held):.0%})")
    print(f"median {statistics.median(seconds):.2f} s a question")


def sample(claims: list[VitalClaim], split: Split, rows: int) -> list[VitalClaim]:
    """Return plain claims, then as many with two titles, whose questions all have answers; always the same ones."""
    fit = [row for row in claims if row.split == split and all(asked.answer for asked in row.questions)]
    plain = [row for row in fit if row.style == "plain"]
    two = [row for row in fit if row.hops > 1]
    rng = random.Random(0)
    return [*rng.sample(plain, min(len(plain), rows // 2)), *rng.sample(two, min(len(two), rows - rows // 2))]


def generated_question(generator: QuestionGenerator, row: VitalClaim, step: int) -> Question | None:
    """Return the generator's question after the first `step` recorded questions and answers."""
    leads = dict(row.leads)
    hops = []
    for number, asked in enumerate(row.questions[:step], 1):
        passage = Passage(leads.get(asked.title or "", ""), asked.title or "", "vital")
        answer = Answer(asked.answer, None, (passage,))
        hops.append(Hop(number, Question(asked.question), answer, HopStatus.KEPT))
    return generator.next_question(Claim(row.claim), tuple(hops), ())


def is_answered(reader: Reader, row: VitalClaim, step: int, asked: Question | None) -> bool:
    """Return whether the reader answers `asked` with the recorded answer, from the recorded lead."""
    recorded = row.questions[step]
    if asked is None or not recorded.answer or not recorded.title:
        return False
    passage = Passage(dict(row.leads).get(recorded.title, ""), recorded.title, "vital")
    answer = reader.read(asked, [passage]).text
    return bool(answer) and f1(answer or "", [recorded.answer]) >= MIN_F1


if __name__ == "__main__":
    main()
