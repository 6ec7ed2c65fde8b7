"""How well yes/no questions are answered, from the evidence that stands beside each in a JSONL file.

    python -m benchmarks.yes_no strategyqa_train.jsonl fever_symmetric.jsonl [--questions 150]

A row has `question`, `facts` (texts) and `answer` (true or false), as StrategyQA's (Geva et al., 2021), which take
several facts, often common sense too, and are harder than what a hop asks. Or it has `id`, `claim`, `label` and
`evidence` (title, text): then those claims that the judge has not seen are asked whose subject is a name before a form
of "be", turned into a question ("Hamlet is a play." -> "Is Hamlet a play?"). docs/local-models-reader.md keeps a table.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from app.backends.local.judge import Calibration, EntailmentJudge
from app.domain.model import Passage
from app.domain.ports import EntailmentModel
from app.modules.answerers.yes_no import YesOrNo
from app.modules.judging.calibrated import JoinedJudge, Joint
from app.modules.judging.yes_no import statement
from app.modules.wording import NAME
from research.evaluation.metrics import auc
from research.training.pairs import read_rows, row_is_held_out

ROOT = Path(__file__).resolve().parent.parent
JUDGE = ROOT / "app" / "models" / "judge"
BASE = ROOT / "instance" / "models" / "smollm2-135m"
DECIDED = {"SUPPORTED": True, "REFUTED": False}
_CLAIM = re.compile(rf"({NAME}) (is|was|are|were|has|had|can|will) (.+)\.")

Row = tuple[str, list[Passage], bool]
"""A question, its evidence, whether the answer is yes."""


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", type=Path, nargs="+")
    options.add_argument("--questions", type=int, default=150)
    options.add_argument("--threads", type=int, default=1)
    chosen = options.parse_args()
    judge = JoinedJudge(EntailmentJudge(BASE, JUDGE, chosen.threads), Joint.read(JUDGE / "joined.json"))
    bound = Calibration.read(JUDGE).sufficient
    print("| file | questions | turned into a statement | answered | right when answered | AUC of yes |")
    print("|---|---|---|---|---|---|")
    for path in chosen.files:
        asked = list(_asked(read_rows(path)))
        few = random.Random(0).sample(asked, min(len(asked), chosen.questions))
        print(f"| {path.stem} {_measured(judge, bound, few)}")


def _asked(rows: Iterable[dict]) -> Iterator[Row]:
    for row in rows:
        if "question" in row:
            yield row["question"], [Passage(fact, "", "facts") for fact in row["facts"]], row["answer"]
        elif _is_unseen(row) and (match := _CLAIM.fullmatch(row["claim"].strip())):
            subject, verb, rest = match.groups()
            evidence = [Passage(one["text"], one["title"], "evidence") for one in row["evidence"]]
            yield f"{verb.capitalize()} {subject} {rest}?", evidence, DECIDED[row["label"]]


def _is_unseen(row: dict) -> bool:
    """Whether the claim is decided and not among those that the judge was trained on."""
    return row["label"] in DECIDED and row_is_held_out(str(row["id"]), row.get("group"), row.get("hops"))


class _Heard:
    """The judge, and what it said last: every question is judged once."""

    def __init__(self, judge: EntailmentModel) -> None:
        self.judge, self.said = judge, [(1.0, 0.0, 0.0)]

    def classify(self, pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[tuple[float, float, float]]:
        self.said = self.judge.classify(pairs)
        return self.said


def _measured(judge: EntailmentModel, bound: float, rows: list[Row]) -> str:
    """The table's cells: shares in percent; the area under the curve of p(supports) / (p(supports) + p(refutes))."""
    scores, truths, right = [], [], []
    for question, evidence, yes in rows:
        if (said := statement(question)) is None:
            continue
        heard = _Heard(judge)
        answer = YesOrNo(heard, bound).answer(said, evidence).text
        ((supports, refutes, _),) = heard.said
        scores.append(supports / (supports + refutes))
        truths.append(yes)
        if answer:
            right.append((answer == "yes") == yes)
    told, answered = len(scores) / len(rows), len(right) / len(scores)
    share = f"{100 * sum(right) / len(right):.0f}% of {len(right)}" if right else "none"
    return f"| {len(rows)} | {100 * told:.0f}% | {100 * answered:.0f}% | {share} | {auc(scores, truths):.2f} |"


if __name__ == "__main__":
    main()
