"""AVeriTeC's own score and submission (Schlichtkrull, Guo and Vlachos, NeurIPS 2023; the FEVER 2024 shared task).

The evidence score is the sum of METEOR over the best one-to-one assignment of found to gold question-answer pairs,
divided by the number of gold pairs. The AVeriTeC score at a threshold is the share of claims with the right label and
an evidence score above the threshold.
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

THRESHOLDS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Thresholds of the evidence score."""
RANKING_THRESHOLD, TYPE_THRESHOLD = 0.25, 0.3
"""The threshold of the shared task's score, also by claim type, and that of its evidence score by claim type."""
MAX_PAIRS = 10
"""Found pairs that are scored; later ones are ignored."""
NO_ANSWER = "No answer could be found."
"""The text compared for a gold question without an answer."""

LABEL_NAMES = {
    Gold.SUPPORTED: "Supported",
    Gold.REFUTED: "Refuted",
    Gold.NOT_ENOUGH_EVIDENCE: "Not Enough Evidence",
    Gold.CONFLICTING_EVIDENCE: "Conflicting Evidence/Cherrypicking",
}
"""The shared task's spelling of each label."""

Metric = Callable[[str, str], float]
"""Similarity of a candidate to a reference, in [0, 1]."""


def assignment_score(found: Sequence[str], gold: Sequence[str], metric: Metric = meteor) -> float:
    """Return the summed scores of the best one-to-one assignment of `found` to `gold`, divided by len(gold).

    0 if one of the two is empty.
    """
    if not found or not gold:
        return 0.0
    scores = np.array([[metric(each, reference) for reference in gold] for each in found])
    return float(scores[linear_sum_assignment(scores, maximize=True)].sum() / len(gold))


def question_score(row: Row, prediction: Prediction, metric: Metric = meteor) -> float:
    """Return the evidence score of the questions without their answers."""
    found = [pair.question for pair in prediction.evidence[:MAX_PAIRS]]
    return assignment_score(found, [question for question, _ in row.scored_questions], metric)


def pair_score(row: Row, prediction: Prediction, metric: Metric = meteor) -> float:
    """Return the evidence score of questions with answers; a gold question with two answers counts as two pairs."""
    found = _pair_texts(prediction)
    gold = [f"{question} {answer}" for question, answers in row.scored_questions for answer in answers or (NO_ANSWER,)]
    return assignment_score(found, gold, metric)


def justification_score(row: Row, prediction: Prediction, metric: Metric = meteor) -> float:
    """Return the similarity of the rationale, or of the pairs if it is empty, to the data set's justification."""
    found = prediction.rationale or " ".join(_pair_texts(prediction))
    return metric(found, row.justification) if found and row.justification else 0.0


def averitec_scores(
    rows: Sequence[Row],
    predictions: Sequence[Prediction],
    metric: Metric = meteor,
    labels: LabelSet = LabelSet.FOUR,
) -> dict[str, Any]:
    """Return the shared task's scores over at least one row.

    A failed prediction, or a label outside `labels`, counts as a wrong label; its pairs are still scored as evidence.
    `questions` and `pairs` are mean evidence scores, `scores` the AVeriTeC scores by threshold. `justification` has the
    mean over all rows, and by threshold with 0 for rows whose pair score is not above it; None if the data set has no
    justifications. `types` has scores by claim type; a claim may have several types.
    """
    both = list(zip(rows, predictions, strict=True))
    pairs = [pair_score(row, prediction, metric) for row, prediction in both]
    right = [prediction.label in labels.labels and prediction.label == row.label.value for row, prediction in both]
    justifications = [justification_score(row, prediction, metric) for row, prediction in both]
    has_justifications = any(row.justification for row in rows)

    def mean_above(threshold: float) -> float | None:
        kept = [each * (pair > threshold) for each, pair in zip(justifications, pairs, strict=True)]
        return float(np.mean(kept)) if has_justifications else None

    return {
        "justification": {
            "mean": float(np.mean(justifications)) if has_justifications else None,
            "scores": {str(threshold): mean_above(threshold) for threshold in THRESHOLDS},
        },
        "types": _scores_by_type(rows, pairs, right),
        "questions": float(np.mean([question_score(row, prediction, metric) for row, prediction in both])),
        "pairs": float(np.mean(pairs)),
        "scores": {
            str(threshold): float(np.mean([hit and pair > threshold for hit, pair in zip(right, pairs, strict=True)]))
            for threshold in THRESHOLDS
        },
    }


def _pair_texts(prediction: Prediction) -> list[str]:
    return [f"{pair.question} {pair.answer}" for pair in prediction.evidence[:MAX_PAIRS]]


def _scores_by_type(rows: Sequence[Row], pairs: Sequence[float], right: Sequence[bool]) -> dict[str, dict[str, float]]:
    """Return scores by claim type. `evidence` is the mean pair score, 0 where not above TYPE_THRESHOLD."""
    found: dict[str, dict[str, float]] = {}
    for name in sorted({name for row in rows for name in row.types}):
        of = [at for at, row in enumerate(rows) if name in row.types]
        found[name] = {
            "n": len(of),
            "accuracy": float(np.mean([right[at] for at in of])),
            "evidence": float(np.mean([pairs[at] * (pairs[at] > TYPE_THRESHOLD) for at in of])),
            "score": float(np.mean([right[at] and pairs[at] > RANKING_THRESHOLD for at in of])),
        }
    return found


def submission(
    rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet = LabelSet.FOUR
) -> list[dict[str, Any]]:
    """Return the shared task's submission: for each claim its label and question-answer pairs.

    The claim's id is its position in the shared task's file: the number at the end of the row's id ("averitec-dev-12"),
    if there is one. Failed predictions and labels outside `labels` get the label "", which its script counts as wrong.
    """
    return [
        {
            "claim_id": _claim_id(row.id),
            "claim": row.claim,
            "pred_label": LABEL_NAMES[Gold(prediction.label.value)]
            if prediction.label and prediction.label in labels.labels
            else "",
            "evidence": [
                {
                    "question": pair.question,
                    "answer": pair.answer,
                    "url": pair.url,
                    "scraped_text": pair.text,
                }
                for pair in prediction.evidence[:MAX_PAIRS]
            ],
        }
        for row, prediction in zip(rows, predictions, strict=True)
    ]


def _claim_id(row_id: str) -> int | str:
    number = re.search(r"[0-9]+$", row_id)
    return int(number.group()) if number else row_id
