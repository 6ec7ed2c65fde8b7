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

from research.evaluation.datasets import Row
from research.evaluation.labels import Gold
from research.evaluation.meteor import meteor
from research.evaluation.predictions import Prediction

LEVELS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
"""How good evidence has to be; the shared task's ranking is by 0.25."""
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
    found = [f"{piece.question} {piece.answer}" for piece in prediction.evidence[:MOST_PAIRS]]
    gold = [f"{question} {answer}" for question, answers in row.asked for answer in answers or (UNANSWERED,)]
    return assigned(found, gold, metric)


def averitec_scores(rows: Sequence[Row], predictions: Sequence[Prediction], metric: Metric = meteor) -> dict[str, Any]:
    """`questions` and `pairs`, means over all rows, and `scores` by level; failed predictions count 0 everywhere.

    Rows and predictions stand in the same order and there is at least one.
    """
    both = list(zip(rows, predictions, strict=True))
    pairs = [pair_score(row, prediction, metric) for row, prediction in both]
    right = [prediction.label is not None and prediction.label.value == row.label.value for row, prediction in both]
    return {
        "questions": float(np.mean([question_score(row, prediction, metric) for row, prediction in both])),
        "pairs": float(np.mean(pairs)),
        "scores": {
            str(level): float(np.mean([hit and pair > level for hit, pair in zip(right, pairs, strict=True)]))
            for level in LEVELS
        },
    }


def submission(rows: Sequence[Row], predictions: Sequence[Prediction]) -> list[dict[str, Any]]:
    """What the shared task is handed: for each claim its label and the pairs that it rests on.

    A claim's id there is its place in the shared task's file, taken from the end of the row's id ("averitec-dev-12")
    where it has a number there. A failed prediction has no label, which the shared task's script counts as wrong.
    """
    return [
        {
            "claim_id": _place(row.id),
            "claim": row.claim,
            "pred_label": SPELLED[Gold(prediction.label.value)] if prediction.label else "",
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
