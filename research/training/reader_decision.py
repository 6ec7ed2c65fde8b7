"""After training: the reader's decision fitted on half of the held-out questions, its figures measured on the others.

Held out are whole articles. Each question is asked of its own passage alone, as SQuAD does it, and of several
passages in the reranker's order, as the product does it. The weights of the decision are fitted on the second, its
threshold on the first, because that is where the reader's targets are. Writes decision.json (what inference reads) and
metrics.json (what the model card quotes) beside the weights.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from app.backends.local.reader import Decision, SpanReader
from app.domain.model import Passage, Question
from research.evaluation.answers import exact_match, f1
from research.training.pairs import is_held_out
from research.training.squad import Example

NEUTRAL = Decision(answerable=1.0, span=0.0, rank=0.0, bias=0.0, threshold=0.5)
RIGHT = 0.5
"""An answer with at least this F1 counts as one when the probability is fitted."""

BOUNDS = ((0, None), (0, None), (-0.5, 0), (None, None))
"""Of the decision's weights. The order of passages weighs little: SQuAD's paragraphs are easier to tell apart than the
corpus's articles, so the reranker is right about them more often than it will be."""

AMONG = 220
"""How many questions are asked of several passages at once, for fitting and for measuring: that takes a few minutes."""

TARGETS = {"all": 72.0, "answerable": 75.0, "unanswerable": 70.0}
"""F1 that the reader is to reach on SQuAD 2.0; the threshold is where the worst of the three misses by least."""

CURVE = (40, 50, 60, 70, 80, 90)
"""Shares (percent) of unanswerable questions that are left alone, for which the F1 of the others is written down."""

Ranked = Callable[[str, Sequence[Passage]], Sequence[Passage]]
Asked = tuple[Example, Sequence[Passage]]
"""A held-out example, and the passages it is asked of, best first."""


@dataclass(frozen=True, slots=True)
class Read:
    """A question's best span: how it compares with the given answers (0 or 1, and 0 to 1) and how likely it is.

    `own` says that it stands in the passage that the question was written for.
    """

    answerable: bool
    exact: float
    f1: float
    own: bool
    score: float


def decide(folder: Path, examples: Sequence[Example], rank: Ranked, threads: int, others: int = 3) -> dict:
    """Fit decision.json for the weights in `folder`, measure with it; the metrics.

    `rank` puts passages into the order in which the product would hand them over; `others` passages of held-out
    articles are put beside the right one.
    """
    fit, measured = _halves([one for one in examples if one.held_out])
    _write(folder / "decision.json", asdict(NEUTRAL))
    decision = _fitted(SpanReader(folder, threads), _among(fit, others, rank))
    _write(folder / "decision.json", asdict(decision))
    reader = SpanReader(folder, threads)
    decision = replace(decision, threshold=threshold_for(_read(reader, _alone(fit, "squad"))))
    own = _read(reader, _alone(measured, "squad"))
    metrics = {
        "squad, own passage": figures(own, decision.threshold),
        "corpus, own passage": figures(_read(reader, _alone(measured, "corpus")), decision.threshold),
        f"both, {others + 1} passages": figures(_read(reader, _among(measured, others, rank)), decision.threshold),
    }
    _write(folder / "decision.json", asdict(decision))
    counted = {"weights": min(len(fit), AMONG), "threshold": sum(one.source == "squad" for one in fit)}
    _write(folder / "metrics.json", {"fitted_on": counted, "curve": _curve(own), **metrics})
    return metrics


def _write(path: Path, values: dict) -> None:
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def _halves(held: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Split by a hash once more: the first half to fit on, the second to measure."""
    halves: tuple[list[Example], list[Example]] = ([], [])
    for one in held:
        halves[not is_held_out(f"decision: {one.question} {one.text}", 0.5)].append(one)
    return halves


def _passage(example: Example) -> Passage:
    return Passage(example.text, example.title, "held out")


def _among(held: list[Example], others: int, rank: Ranked) -> list[Asked]:
    """Each example with passages beside its own that do not hold its answers: half of them of its own article."""
    rng = random.Random(0)
    passages = sorted({(one.title, one.text) for one in held})
    by_title: dict[str, list[tuple[str, str]]] = {}
    for title, text in passages:
        by_title.setdefault(title, []).append((title, text))
    asked = []
    for one in rng.sample(held, min(len(held), AMONG)):
        drawn = [rng.choice(by_title[one.title] if at % 2 == 0 else passages) for at in range(others)]
        beside = {
            text: Passage(text, title, "held out")
            for title, text in drawn
            if not any(answer.casefold() in text.casefold() for answer in one.answers)
        }
        beside.pop(one.text, None)
        asked.append((one, rank(one.question, [_passage(one), *beside.values()])))
    return asked


def _alone(held: Sequence[Example], source: str) -> list[Asked]:
    return [(one, [_passage(one)]) for one in held if one.source == source]


def _fitted(reader: SpanReader, asked: Sequence[Asked]) -> Decision:
    """A logistic regression over windows. Its threshold of 0 gives every best span, for what is fitted next."""
    rows, gold = [], []
    for example, passages in asked:
        for window, best in reader.find(Question(example.question), passages):
            passage = passages[window.passage]
            text = passage.text[best.start : best.end]
            rows.append((best.answerable, best.span, float(window.passage), 1.0))
            gold.append(f1(text, example.answers) if example.place and passage.text == example.text else 0.0)
    features, right = np.array(rows), np.array(gold) >= RIGHT

    def loss(weights: np.ndarray) -> float:
        signed = np.where(right, 1, -1) * (features @ weights)
        return float(np.logaddexp(0, -signed).mean() + 1e-4 * (weights**2).sum())

    weights = minimize(loss, np.array([1.0, 0.1, 0.0, 0.0]), method="L-BFGS-B", bounds=BOUNDS).x
    answerable, span, rank, bias = (round(float(weight), 4) for weight in weights)
    return Decision(answerable, span, rank, bias, threshold=0.0)


def _read(reader: SpanReader, asked: Sequence[Asked]) -> list[Read]:
    """What a reader that never declines makes of each question."""
    rows = []
    for example, passages in asked:
        answer = reader.read(Question(example.question), passages)
        truth = example.answers if example.place else ()
        own = answer.cited is not None and answer.cited.passage.text == example.text
        rows.append(
            Read(bool(example.place), exact_match(answer.text, truth), f1(answer.text, truth), own, answer.score)
        )
    return rows


def threshold_for(rows: Sequence[Read]) -> float:
    """The bound at which the worst of the targets is missed by least, of two as good the lower one."""

    def worst_miss(bound: float) -> float:
        scores = {name: part["F1"] for name, part in figures(rows, bound).items()}
        return max(target - scores[name] for name, target in TARGETS.items() if scores[name] is not None)

    return round(min(np.arange(0.02, 0.98, 0.01), key=worst_miss).item(), 2)


def figures(rows: Sequence[Read], threshold: float) -> dict:
    """Exact match and F1 over all, and over those with and without an answer; the right passage's share of answers."""
    given = [one if one.score >= threshold else _declined(one) for one in rows]
    parts = {
        "all": given,
        "answerable": [one for one in given if one.answerable],
        "unanswerable": [one for one in given if not one.answerable],
    }
    counted: dict = {
        name: {"n": len(part), "EM": _percent([r.exact for r in part]), "F1": _percent([r.f1 for r in part])}
        for name, part in parts.items()
    }
    counted["answerable"]["right passage"] = _percent([float(one.own) for one in parts["answerable"]])
    return counted


def _declined(read: Read) -> Read:
    """The question when nothing is given: wholly right where it has no answer."""
    right = float(not read.answerable)
    return replace(read, exact=right, f1=right, own=False)


def _curve(rows: Sequence[Read]) -> list[dict]:
    """What the threshold alone can do: for some shares of unanswerable questions left alone, F1 over the others."""
    bounds = [(bound, figures(rows, bound)) for bound in np.arange(0.0, 1.01, 0.01).round(2).tolist()]
    points = []
    for share in CURVE if any(not one.answerable for one in rows) else ():
        bound, at = min(bounds, key=lambda row: abs(row[1]["unanswerable"]["F1"] - share))
        points.append({"threshold": bound, **{name: at[name]["F1"] for name in TARGETS}})
    return points


def _percent(values: Sequence[float]) -> float | None:
    return round(100 * sum(values) / len(values), 1) if values else None
