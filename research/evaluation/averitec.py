"""AVeriTeC's own score and submission (Schlichtkrull, Guo and Vlachos, NeurIPS 2023; the FEVER 2024 shared task).

Evidence is compared pair by pair: each found pair with each gold pair by METEOR, the best assignment of one to one, and
of it the sum over the number of gold pairs, so that a gold pair that nothing matches counts as 0. A claim scores when
its label is right and its evidence better than a level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from app.domain.model import LabelSet
from research.evaluation.datasets import Row
from research.evaluation.labels import Gold
from research.evaluation.meteor import meteor
from research.evaluation.predictions import Prediction

LEVELS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
"""How good evidence has to be; the shared task's ranking is by 0.25."""
RANKED, TYPE_LEVEL = 0.25, 0.3
"""The level of the ranking, and the one of the shared task's figures by type."""
MOST_PAIRS = 10
"""Pairs after the tenth are not looked at."""
UNANSWERED = "No answer could be found."
"""The answer to a gold question that has none."""

SPELLED = {
    Gold.SUPPORTED: "Supported",
    Gold.REFUTED: "Refuted",
    Gold.NOT_ENOUGH_EVIDENCE: "Not Enough Evidence",
    Gold.CONFLICTING_EVIDENCE: "Conflicting Evidence/Cherrypicking",
}
"""The labels as the shared task writes them."""

Metric = Callable[[str, str], float]
"""How well a candidate says what a reference says, from 0 to 1."""


def assigned(found: Sequence[str], gold: Sequence[str], metric: Metric = meteor) -> float:
    """The best one-to-one assignment of `found` to `gold`: the sum of its scores over the number of gold texts.

    0 when there is nothing on one of the sides.
    """
    if not found or not gold:
        return 0.0
    scores = np.array([[metric(each, reference) for reference in gold] for each in found])
    return float(scores[linear_sum_assignment(scores, maximize=True)].sum() / len(gold))


def question_score(row: Row, prediction: Prediction, metric: Metric = meteor) -> float:
    """The questions alone."""
    found = [piece.question for piece in prediction.evidence[:MOST_PAIRS]]
    return assigned(found, [question for question, _ in row.asked], metric)


def pair_score(row: Row, prediction: Prediction, metric: Metric = meteor) -> float:
    """Questions with their answers; a gold question with two answers is two pairs."""
    found = _pairs(prediction)
    gold = [f"{question} {answer}" for question, answers in row.asked for answer in answers or (UNANSWERED,)]
    return assigned(found, gold, metric)


def justification_score(row: Row, prediction: Prediction, metric: Metric = meteor) -> float:
    """The rationale against the set's justification; without a rationale, the pairs in its place."""
    found = prediction.rationale or " ".join(_pairs(prediction))
    return metric(found, row.justification) if found and row.justification else 0.0


def averitec_scores(
    rows: Sequence[Row],
    predictions: Sequence[Prediction],
    metric: Metric = meteor,
    labels: LabelSet = LabelSet.FOUR,
) -> dict[str, Any]:
    """`questions` and `pairs`, means over all rows, and `scores` by level; failed predictions count 0 everywhere.

    Rows and predictions stand in the same order and there is at least one. A label that is none of `labels` is wrong.
    `justification` has the mean over all rows, and by level with 0 for rows whose pairs are not better than it, and is
    empty where the set has none. `types` has the figures by the type of the claims; a claim may have several.
    """
    both = list(zip(rows, predictions, strict=True))
    pairs = [pair_score(row, prediction, metric) for row, prediction in both]
    right = [prediction.label in labels.labels and prediction.label == row.label.value for row, prediction in both]
    told = [justification_score(row, prediction, metric) for row, prediction in both]
    justified = any(row.justification for row in rows)
    return {
        "justification": {
            "mean": float(np.mean(told)) if justified else None,
            "scores": {
                str(level): float(np.mean([each * (pair > level) for each, pair in zip(told, pairs, strict=True)]))
                if justified
                else None
                for level in LEVELS
            },
        },
        "types": _by_type(rows, pairs, right),
        "questions": float(np.mean([question_score(row, prediction, metric) for row, prediction in both])),
        "pairs": float(np.mean(pairs)),
        "scores": {
            str(level): float(np.mean([hit and pair > level for hit, pair in zip(right, pairs, strict=True)]))
            for level in LEVELS
        },
    }


def _pairs(prediction: Prediction) -> list[str]:
    return [f"{piece.question} {piece.answer}" for piece in prediction.evidence[:MOST_PAIRS]]


def _by_type(rows: Sequence[Row], pairs: Sequence[float], right: Sequence[bool]) -> dict[str, dict[str, float]]:
    """`evidence` is the mean of the pairs' scores, 0 where not above TYPE_LEVEL, as the shared task's script has it."""
    found: dict[str, dict[str, float]] = {}
    for name in sorted({name for row in rows for name in row.types}):
        of = [at for at, row in enumerate(rows) if name in row.types]
        found[name] = {
            "n": len(of),
            "accuracy": float(np.mean([right[at] for at in of])),
            "evidence": float(np.mean([pairs[at] * (pairs[at] > TYPE_LEVEL) for at in of])),
            "score": float(np.mean([right[at] and pairs[at] > RANKED for at in of])),
        }
    return found


def submission(
    rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet = LabelSet.FOUR
) -> list[dict[str, Any]]:
    """What the shared task is handed: for each claim its label and the pairs that it rests on.

    A claim's id there is its place in the shared task's file, taken from the end of the row's id ("averitec-dev-12")
    where it has a number there. A failed prediction has no label, which the shared task's script counts as wrong, and
    neither has one whose label is none of `labels`.
    """
    return [
        {
            "claim_id": _place(row.id),
            "claim": row.claim,
            "pred_label": SPELLED[Gold(prediction.label.value)]
            if prediction.label and prediction.label in labels.labels
            else "",
            "evidence": [
                {
                    "question": piece.question,
                    "answer": piece.answer,
                    "url": piece.url,
                    "scraped_text": piece.text,
                }
                for piece in prediction.evidence[:MOST_PAIRS]
            ],
        }
        for row, prediction in zip(rows, predictions, strict=True)
    ]


def _place(row_id: str) -> int | str:
    number = re.search(r"[0-9]+$", row_id)
    return int(number.group()) if number else row_id
