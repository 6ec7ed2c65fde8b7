"""After training: the reader's decision fitted on half of the held-out questions, its figures measured on the others.

Held out are whole articles. Each question is asked of its own passage alone, as SQuAD does it, and of several
passages in the reranker's order, as the product does it. Writes decision.json (what inference reads) and metrics.json
(what the model card quotes) beside the weights.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from app.backends.reader import Decision, SpanReader
from app.evaluation.answers import exact_match, f1
from app.reasoning.types import Passage, Question
from app.training.pairs import is_held_out
from app.training.squad import Example

NEUTRAL = Decision(answerable=1.0, span=0.0, rank=0.0, bias=0.0, threshold=0.5)
RIGHT = 0.5
"""An answer with at least this F1 counts as one when the probability is fitted."""

BOUNDS = ((0, None), (0, None), (-0.5, 0), (None, None))
"""Of the decision's weights. The order of passages weighs little: SQuAD's paragraphs are easier to tell apart than the
corpus's articles, so the reranker is right about them more often than it will be."""

AMONG = 220
"""How many questions are asked of several passages at once, for fitting and for measuring: that takes a few minutes."""

Ranked = Callable[[str, Sequence[Passage]], Sequence[Passage]]
Asked = tuple[Example, Sequence[Passage]]
"""A held-out example, and the passages it is asked of, best first."""


def decide(folder: Path, examples: Sequence[Example], rank: Ranked, threads: int, others: int = 3) -> dict:
    """Fit decision.json for the weights in `folder`, measure with it; the metrics.

    `rank` puts passages into the order in which the product would hand them over; `others` passages of held-out
    articles are put beside the right one.
    """
    fit, measured = _halves([one for one in examples if one.held_out])
    _write(folder / "decision.json", asdict(NEUTRAL))
    reader = SpanReader(folder, threads)
    decision = _fitted(reader, _among(fit, others, rank))
    _write(folder / "decision.json", asdict(decision))
    reader = SpanReader(folder, threads)
    alone = {
        source: [(one, [_passage(one)]) for one in measured if one.source == source] for source in ("squad", "corpus")
    }
    metrics = {
        "squad, own passage": _measured(reader, alone["squad"]),
        "corpus, own passage": _measured(reader, alone["corpus"]),
        f"both, {others + 1} passages": _measured(reader, _among(measured, others, rank)),
    }
    _write(folder / "metrics.json", {"fitted_on": min(len(fit), AMONG), **metrics})
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


def _fitted(reader: SpanReader, asked: Sequence[Asked]) -> Decision:
    """A logistic regression over windows, then the threshold with the best mean F1 over questions."""
    rows, gold, owner = [], [], []
    for at, (example, passages) in enumerate(asked):
        for window, best in reader.find(Question(example.question), passages):
            passage = passages[window.passage]
            text = passage.text[best.start : best.end]
            rows.append((best.answerable, best.span, float(window.passage), 1.0))
            gold.append(f1(text, example.answers) if example.place and passage.text == example.text else 0.0)
            owner.append(at)
    features, values = np.array(rows), np.array(gold)
    right = values >= RIGHT

    def loss(weights: np.ndarray) -> float:
        signed = np.where(right, 1, -1) * (features @ weights)
        return float(np.logaddexp(0, -signed).mean() + 1e-4 * (weights**2).sum())

    weights = minimize(loss, np.array([1.0, 0.1, 0.0, 0.0]), method="L-BFGS-B", bounds=BOUNDS).x
    threshold = _threshold(expit(features @ weights), values, np.array(owner), [not one.place for one, _ in asked])
    answerable, span, rank, bias = (round(float(weight), 4) for weight in weights)
    return Decision(answerable, span, rank, bias, threshold)


def _threshold(scores: np.ndarray, values: np.ndarray, owner: np.ndarray, none: Sequence[bool]) -> float:
    """The bound with the best mean F1, each question answered by its best window or, below the bound, not at all."""
    best = [max(np.flatnonzero(owner == at), key=scores.__getitem__) for at in range(len(none))]
    top, worth = scores[best], values[best]

    def mean_f1(bound: float) -> float:
        return float(np.where(top >= bound, worth, np.asarray(none, dtype=float)).mean())

    return round(max(np.arange(0.02, 0.98, 0.01), key=mean_f1).item(), 2)


def _measured(reader: SpanReader, asked: Sequence[Asked]) -> dict:
    """Exact match and F1 over all, and over those with and without an answer; the right passage's share of answers."""
    rows = []
    for example, passages in asked:
        answer = reader.read(Question(example.question), passages)
        own = answer.cited is not None and answer.cited.passage.text == example.text
        truth = example.answers if example.place else ()
        rows.append((bool(example.place), exact_match(answer.text, truth), f1(answer.text, truth), own))
    parts = {"all": rows, "answerable": [r for r in rows if r[0]], "unanswerable": [r for r in rows if not r[0]]}
    figures: dict = {
        name: {"n": len(part), "EM": _percent([r[1] for r in part]), "F1": _percent([r[2] for r in part])}
        for name, part in parts.items()
    }
    figures["answerable"]["right passage"] = _percent([float(r[3]) for r in parts["answerable"]])
    return figures


def _percent(values: Sequence[float]) -> float | None:
    return round(100 * sum(values) / len(values), 1) if values else None
