"""Write the output files of an evaluation other than the predictions: figures, table, plots, submission, manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from app.domain.model import LabelSet
from research.evaluation.averitec import averitec_scores, submission
from research.evaluation.charts import draw_confusion, draw_risk
from research.evaluation.datasets import Row
from research.evaluation.harness import is_right, manifest
from research.evaluation.metrics import risk_coverage_curve
from research.evaluation.predictions import Prediction, write_json, write_text
from research.evaluation.report import compute_figures, figures_table, mistakes_report


@dataclass(frozen=True)
class Evaluation:
    """Rows with their predictions, in the same order."""

    rows: Sequence[Row]
    predictions: Sequence[Prediction]
    labels: LabelSet
    seed: int
    about: dict[str, Any] = field(default_factory=dict)  # all that the predictions depend on
    notes: dict[str, Any] = field(default_factory=dict)  # other facts that the files report

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Return all figures; with `averitec`, AVeriTeC's own score, if `has_pairs`."""
        figures = compute_figures(self.rows, self.predictions, self.labels, self.seed)
        if self.has_pairs:
            figures["averitec"] = averitec_scores(self.rows, self.predictions, labels=self.labels)
        return figures

    @property
    def has_pairs(self) -> bool:
        """Return whether the rows have gold question-answer pairs and the predictions searched for evidence."""
        searched = any(each.pages is not None for each in self.predictions)
        return searched and any(row.scored_questions for row in self.rows)

    @property
    def risk(self) -> list[tuple[float, float]]:
        """Return the points of risk against coverage; [] if no prediction has a confidence. A missing one is 0."""
        if all(each.confidence is None for each in self.predictions):
            return []
        right = [is_right(row, each, self.labels) for row, each in zip(self.rows, self.predictions, strict=True)]
        return risk_coverage_curve([each.confidence or 0.0 for each in self.predictions], right)


def write_outputs(evaluation: Evaluation, folder: Path, workers: int) -> None:
    """Write metrics.json, manifest.json, table.md, mistakes.md and the plots, and for AVeriTeC submission.json."""
    description = evaluation.about | evaluation.notes
    risk = evaluation.risk
    curve = {"risk_against_coverage": risk} if risk else {}
    write_json(folder / "metrics.json", description | evaluation.figures | curve)
    write_json(folder / "manifest.json", manifest(description, evaluation.predictions, workers))
    write_text(folder / "table.md", figures_table(evaluation.figures))
    write_text(folder / "mistakes.md", mistakes_report(evaluation.rows, evaluation.predictions, evaluation.labels))
    draw_confusion(evaluation.figures["confusion"], folder / "confusion.svg")
    if risk:
        draw_risk(risk, folder / "risk.svg")
    if evaluation.has_pairs:
        write_json(folder / "submission.json", submission(evaluation.rows, evaluation.predictions, evaluation.labels))
