"""Calibrate a trained reader on half of the held-out questions, and measure it on the other half.

Whole articles are held out. Each question is read in its own passage alone, as in SQuAD, and in several passages in the
reranker's order, as in the product. The weights of the decision are fitted on several passages; its threshold is fitted
on single ones, to which the targets refer. Writes decision.json, which inference reads, and metrics.json, which
the model card quotes, next to the weights.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from app.backends.local.reader import ReaderCalibration, SpanReader
from scipy.optimize import minimize

from app.domain.model import Passage, Question
from research.evaluation.answers import exact_match, f1
from research.training.pairs import is_held_out
from research.training.squad import Example

NEUTRAL = ReaderCalibration(answerable=1.0, span=0.0, rank=0.0, bias=0.0, threshold=0.5)
MIN_CORRECT_F1 = 0.5
"""F1 from which an answer counts as right when the probability is fitted."""

BOUNDS = ((0, None), (0, None), (-0.5, 0), (None, None))
"""Bounds of the decision's weights (answerable, span, rank, bias). That of `rank` is small, because the reranker orders
SQuAD's paragraphs better than the corpus's articles, which are harder to distinguish."""

MAX_RANKED_QUESTIONS = 220
"""Maximum number of questions that are read in several passages, in each half; reading them takes a few minutes."""

TARGETS = {"all": 72.0, "answerable": 75.0, "unanswerable": 70.0}
"""F1 on SQuAD 2.0 that the threshold is chosen for: it minimises the largest shortfall of the three."""

CURVE = (40, 50, 60, 70, 80, 90)
"""Points of the curve in metrics.json: percentages of unanswerable questions that get no answer."""

Ranker = Callable[[str, Sequence[Passage]], Sequence[Passage]]
Asked = tuple[Example, Sequence[Passage]]
"""A held-out example and the passages in which it is read, best first."""


@dataclass(frozen=True, slots=True)
class Read:
    """The best span for a question, compared with the gold answers."""

    answerable: bool  # whether the question has an answer
    exact: float  # exact match, 0 or 1
    f1: float  # 0 to 1
    own: bool  # whether the span is in the passage that the question was written for
    score: float  # probability that it is the answer


def decide(folder: Path, examples: Sequence[Example], rank: Ranker, threads: int, others: int = 3) -> dict:
    """Fit and write decision.json for the weights in `folder`; return the metrics measured with it.

    `rank` orders passages as the product does. At most `others` passages of held-out articles are added to the right
    one.
    """
    fit, measured = _halves([one for one in examples if one.held_out])
    _write(folder / "decision.json", asdict(NEUTRAL))
    decision = _fit(SpanReader(folder, threads), _several(fit, others, rank))
    _write(folder / "decision.json", asdict(decision))
    reader = SpanReader(folder, threads)
    decision = replace(decision, threshold=threshold_for(_answers_of(reader, _own_passage(fit, "squad"))))
    own = _answers_of(reader, _own_passage(measured, "squad"))
    metrics = {
        "squad, own passage": figures(own, decision.threshold),
        "corpus, own passage": figures(_answers_of(reader, _own_passage(measured, "corpus")), decision.threshold),
        f"both, up to {others + 1} passages": figures(
            _answers_of(reader, _several(measured, others, rank)), decision.threshold
        ),
    }
    _write(folder / "decision.json", asdict(decision))
    counts = {"weights": min(len(fit), MAX_RANKED_QUESTIONS), "threshold": sum(one.source == "squad" for one in fit)}
    _write(folder / "metrics.json", {"fitted_on": counts, "curve": _curve(own), **metrics})
    return metrics


def _write(path: Path, values: dict) -> None:
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def _halves(held: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Split by a second hash; return the half to fit on and the half to measure on."""
    halves: tuple[list[Example], list[Example]] = ([], [])
    for one in held:
        halves[not is_held_out(f"decision: {one.question} {one.text}", 0.5)].append(one)
    return halves


def _passage(example: Example) -> Passage:
    return Passage(example.text, example.title, "held out")


def _several(held: list[Example], others: int, rank: Ranker) -> list[Asked]:
    """Return at most MAX_RANKED_QUESTIONS examples, each with its own passage and up to `others` further ones.

    The further passages have none of the example's answers; some are from its article.
    """
    rng = random.Random(0)
    passages = sorted({(one.title, one.text) for one in held})
    by_title: dict[str, list[tuple[str, str]]] = {}
    for title, text in passages:
        by_title.setdefault(title, []).append((title, text))
    asked = []
    for one in rng.sample(held, min(len(held), MAX_RANKED_QUESTIONS)):
        drawn = [rng.choice(by_title[one.title] if at % 2 == 0 else passages) for at in range(others)]
        distractors = {
            text: Passage(text, title, "held out")
            for title, text in drawn
            if not any(answer.casefold() in text.casefold() for answer in one.answers)
        }
        distractors.pop(one.text, None)
        asked.append((one, rank(one.question, [_passage(one), *distractors.values()])))
    return asked


def _own_passage(held: Sequence[Example], source: str) -> list[Asked]:
    return [(one, [_passage(one)]) for one in held if one.source == source]


def _fit(reader: SpanReader, asked: Sequence[Asked]) -> ReaderCalibration:
    """Fit a logistic regression over windows. Its threshold is 0, so that every question gets its best span."""
    rows, gold = [], []
    for example, passages in asked:
        for window, best in reader.read_windows(Question(example.question), passages):
            passage = passages[window.passage_index]
            text = passage.text[best.start : best.end]
            rows.append((best.answerable_logit, best.span_log_probability, float(window.passage_index), 1.0))
            gold.append(f1(text, example.answers) if example.place and passage.text == example.text else 0.0)
    features, right = np.array(rows), np.array(gold) >= MIN_CORRECT_F1

    def loss(weights: np.ndarray) -> float:
        signed = np.where(right, 1, -1) * (features @ weights)
        return float(np.logaddexp(0, -signed).mean() + 1e-4 * (weights**2).sum())

    weights = minimize(loss, np.array([1.0, 0.1, 0.0, 0.0]), method="L-BFGS-B", bounds=BOUNDS).x
    answerable, span, rank, bias = (round(float(weight), 4) for weight in weights)
    return ReaderCalibration(answerable, span, rank, bias, threshold=0.0)


def _answers_of(reader: SpanReader, asked: Sequence[Asked]) -> list[Read]:
    """Return the best span for each question; the reader's threshold must be 0."""
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
    """Return the threshold that minimises the largest shortfall from TARGETS, the lowest of equals."""

    def worst_miss(bound: float) -> float:
        scores = {name: part["F1"] for name, part in figures(rows, bound).items()}
        return max(target - scores[name] for name, target in TARGETS.items() if scores[name] is not None)

    return round(min(np.arange(0.02, 0.98, 0.01), key=worst_miss).item(), 2)


def figures(rows: Sequence[Read], threshold: float) -> dict:
    """Return number, EM and F1 of all questions and of those with and without an answer.

    `right passage` is the percentage of answers from the question's own passage.
    """
    given = [one if one.score >= threshold else _declined(one) for one in rows]
    parts = {
        "all": given,
        "answerable": [one for one in given if one.answerable],
        "unanswerable": [one for one in given if not one.answerable],
    }
    table: dict = {
        name: {"n": len(part), "EM": _percent([r.exact for r in part]), "F1": _percent([r.f1 for r in part])}
        for name, part in parts.items()
    }
    table["answerable"]["right passage"] = _percent([float(one.own) for one in parts["answerable"]])
    return table


def _declined(read: Read) -> Read:
    """Return the result of giving no answer, which is right if the question has none."""
    right = float(not read.answerable)
    return replace(read, exact=right, f1=right, own=False)


def _curve(rows: Sequence[Read]) -> list[dict]:
    """Return F1 at the thresholds nearest to the percentages in CURVE."""
    bounds = [(bound, figures(rows, bound)) for bound in np.arange(0.0, 1.01, 0.01).round(2).tolist()]
    points = []
    for share in CURVE if any(not one.answerable for one in rows) else ():
        bound, at = min(bounds, key=lambda row: abs(row[1]["unanswerable"]["F1"] - share))
        points.append({"threshold": bound, **{name: at[name]["F1"] for name in TARGETS}})
    return points


def _percent(values: Sequence[float]) -> float | None:
    return round(100 * sum(values) / len(values), 1) if values else None
