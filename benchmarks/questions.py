"""Print the questions that the generator asks about the claims of questions.jsonl, for a person to read and judge.

    .venv/bin/python benchmarks/questions.py [--without-model]

Each claim comes with plausible kept pairs; the line behind each number is the next question when so many are kept.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.backends.local.llama_cpp import LocalLM
from app.domain.model import Answer, Claim, Hop, HopStatus, Question
from app.modules.question_generator.local import LocalQuestionGenerator


class NoModel:
    """Writes nothing: what is left are the questions that follow from the claim's grammar."""

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """Nothing."""
        return ""


def main() -> None:
    """Ask about every claim, with none, then one, then all of its pairs kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-model", action="store_true")
    generator = LocalQuestionGenerator(NoModel() if parser.parse_args().without_model else LocalLM())
    generator.warm()
    seconds = []
    for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        claim, hops = Claim(record["claim"]), _hops(record["kept"])
        print(claim.text)
        for kept in range(len(hops) + 1):
            began = time.perf_counter()
            question = generator.next_question(claim, hops[:kept], ())
            seconds.append(time.perf_counter() - began)
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
