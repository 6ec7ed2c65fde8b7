"""Print the questions that the generator asks about the claims of questions.jsonl, for a person to read and judge.

    .venv/bin/python -m benchmarks.questions

Each claim has plausible kept pairs; the line after each number is the next question when that many pairs are kept.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

from app.config.settings import load_settings
from app.container.container import Container
from app.domain.model import Answer, Claim, Hop, HopStatus, Question


def main() -> None:
    """Ask the next question about every claim, after none, one and all of its kept pairs."""
    generator = Container(load_settings()).generator
    generator.warm()
    seconds = []
    for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        claim, hops = Claim(record["claim"]), _hops(record["kept"])
        print(claim.text)
        for kept in range(len(hops) + 1):
            started = time.perf_counter()
            question = generator.next_question(claim, hops[:kept], ())
            seconds.append(time.perf_counter() - started)
            last = f"   <- {hops[kept - 1].answer.text}" if kept else ""
            print(f"  {kept}  {question.text if question else '(nothing left to ask)'}{last}")
    print(f"\n{len(seconds)} questions, median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s")


def _hops(pairs: list[list[str]]) -> tuple[Hop, ...]:
    return tuple(
        Hop(number, Question(question), Answer(answer), HopStatus.KEPT)
        for number, (question, answer) in enumerate(pairs, start=1)
    )


if __name__ == "__main__":
    main()
