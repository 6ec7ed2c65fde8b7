"""Compute the figures of an evaluation, and format them and the mistakes as Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.domain.model import LabelSet
from research.evaluation.datasets import Row
from research.evaluation.harness import is_right
from research.evaluation.labels import Gold, as_gold
from research.evaluation.metrics import (
    accuracy_interval,
    auc,
    class_f1,
    class_precision,
    class_recall,
    macro_f1,
    macro_f1_interval,
)
from research.evaluation.predictions import Prediction
from research.evaluation.retrieval import page_recall, pages_missed

COLUMNS = ("rows", "n", "failed", "accuracy", "macro-F1", "AUC", "gold pages found")


def figures_table(figures: dict[str, Any]) -> str:
    """Return Markdown tables: all rows and each number of hops; each class; AVeriTeC's scores if there are any."""
    rows = [("all", figures), *((f"{hops}-hop", row) for hops, row in figures["by_hops"].items())]
    parts = [
        markdown_table(COLUMNS, [_figures_row(name, row) for name, row in rows]),
        markdown_table(("class", "n", "precision", "recall", "F1"), _class_rows(figures)),
    ]
    return "\n".join([*parts, *(_averitec_tables(figures["averitec"]) if "averitec" in figures else ())])


def _averitec_tables(scores: dict[str, Any]) -> Iterator[str]:
    thresholds = [f"AVeriTeC at {threshold}" for threshold in scores["scores"]]
    pairs = (scores["questions"], scores["pairs"], *scores["scores"].values())
    yield markdown_table(("questions", "questions and answers", *thresholds), [map(format_share, pairs)])
    justification = (scores["justification"]["mean"], *scores["justification"]["scores"].values())
    yield markdown_table(("justification", *thresholds), [map(format_share, justification)])
    yield markdown_table(("claims of the type", "n", "accuracy", "evidence", "AVeriTeC at 0.25"), _type_rows(scores))


def by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the folders by name, or by path where several have the same name."""
    names = [folder.name for folder in folders]
    return {str(folder) if names.count(folder.name) > 1 else folder.name: folder for folder in folders}


def side_by_side(evaluations: Mapping[str, dict[str, Any]]) -> str:
    """Return a Markdown table of named evaluations: accuracy and macro-F1, then macro-F1 and gold pages by hops."""
    hops = sorted({depth for figures in evaluations.values() for depth in figures["by_hops"]})
    head = ["evaluation", "n", "failed", "accuracy", "macro-F1"]
    head += [f"{depth}-hop: {what}" for depth in hops for what in ("n", "macro-F1", "gold pages found")]
    return markdown_table(head, [[name, *_comparison_cells(figures, hops)] for name, figures in evaluations.items()])


def _type_rows(scores: dict[str, Any]) -> Iterator[list[str]]:
    for name, row in scores["types"].items():
        yield [name, str(row["n"]), *(format_share(row[each]) for each in ("accuracy", "evidence", "score"))]


def _comparison_cells(figures: dict[str, Any], hops: Sequence[str]) -> Iterable[str]:
    yield from (str(figures["n"]), str(figures["failed"]))
    yield from (format_share(figures[name], figures["intervals"][name]) for name in ("accuracy", "macro_f1"))
    for depth in hops:
        row = figures["by_hops"].get(depth)
        found = row and row.get("retrieval")
        yield str(row["n"]) if row else "0"
        yield format_share(row["macro_f1"], row["intervals"]["macro_f1"]) if row else "none"
        yield format_share(found["recall"]) if found else "none"


def markdown_table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; characters that would break a cell are replaced."""
    lines = (" | ".join(cell.replace("|", "/").replace("\n", " ") for cell in row) for row in rows)
    return "".join(f"| {line} |\n" for line in (" | ".join(head), "|".join(["---"] * len(head)), *lines))


def format_share(value: float | None, interval: Sequence[float] | None = None) -> str:
    """Return "0.567 (0.541 to 0.592)", or "none" without a value."""
    if value is None:
        return "none"
    return f"{value:.3f}" + (f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else "")


def _figures_row(name: str, row: dict[str, Any]) -> list[str]:
    within, found = row["intervals"], row.get("retrieval")
    return [
        name,
        str(row["n"]),
        str(row["failed"]),
        format_share(row["accuracy"], within["accuracy"]),
        format_share(row["macro_f1"], within["macro_f1"]),
        format_share(row["auc"]),
        format_share(found["recall"]) if found else "none",
    ]


def _class_rows(figures: dict[str, Any]) -> Iterable[list[str]]:
    for label, row in figures["per_class"].items():
        yield [label, str(row["n"]), *(format_share(row[name]) for name in ("precision", "recall", "f1"))]


FAILED = "failed"
"""The column of failed predictions in the confusion matrix."""


def compute_figures(
    rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet, seed: int = 7
) -> dict[str, Any]:
    """Return the figures of all rows, by class and by number of hops; failed predictions count as wrong.

    `auc` separates rows labelled SUPPORTED from all others; None without rows of both, or without probabilities.
    `intervals` are 95% bootstrap intervals, which `seed` makes reproducible.
    """
    pairs = list(zip(rows, predictions, strict=True))
    classes = sorted({row.label for row in rows})
    predicted = [as_gold(prediction.label, row.label, classes, labels) for row, prediction in pairs]
    gold = [row.label.value for row in rows]

    def over(places: Sequence[int]) -> dict[str, Any]:
        chosen = [pairs[at] for at in places]
        return _figures(chosen, [predicted[at] for at in places], [gold[at] for at in places], labels, seed)

    hops = sorted({row.hops for row in rows if row.hops is not None})
    return over(range(len(pairs))) | {
        "per_class": {label.value: _class_figures(label.value, predicted, gold) for label in classes},
        "by_hops": {str(count): over([at for at, row in enumerate(rows) if row.hops == count]) for count in hops},
        "confusion": {label.value: _label_counts(label, pairs) for label in Gold if label in classes},
        "problems": dict(Counter(prediction.problem for _, prediction in pairs if prediction.problem)),
        "troubles": sum(len(prediction.troubles) for _, prediction in pairs),
    }


def _figures(
    pairs: Sequence[tuple[Row, Prediction]], predicted: Sequence[str], gold: Sequence[str], labels: LabelSet, seed: int
) -> dict[str, Any]:
    right = [is_right(row, prediction, labels) for row, prediction in pairs]
    found = {
        "n": len(pairs),
        "failed": sum(prediction.label is None for _, prediction in pairs),
        "accuracy": sum(right) / len(pairs),
        "macro_f1": macro_f1(predicted, gold),
        "auc": _auc(pairs),
        "intervals": {
            "accuracy": accuracy_interval(right, seed),
            "macro_f1": macro_f1_interval(predicted, gold, seed),
        },
    }
    retrieval = page_recall([row for row, _ in pairs], [prediction for _, prediction in pairs])
    return found | {"retrieval": retrieval} if retrieval else found


def _auc(pairs: Sequence[tuple[Row, Prediction]]) -> float | None:
    """Return the AUC with the worst score for failed predictions, so that failing never improves it."""
    positive = [row.label is Gold.SUPPORTED for row, _ in pairs]
    known = any(prediction.supported is not None for _, prediction in pairs)
    if not known or len(set(positive)) < 2:
        return None
    scores = [
        prediction.supported if prediction.supported is not None else -math.inf if supported else math.inf
        for (_, prediction), supported in zip(pairs, positive, strict=True)
    ]
    return auc(scores, positive)


def _label_counts(label: Gold, pairs: Sequence[tuple[Row, Prediction]]) -> dict[str, int]:
    """Count the predictions of rows with this gold label, without mapping them to the data set's classes."""
    counts = Counter(
        prediction.label.value if prediction.label else FAILED for row, prediction in pairs if row.label == label
    )
    return dict(sorted(counts.items()))


def _class_figures(label: str, predicted: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    return {
        "n": gold.count(label),
        "precision": class_precision(label, predicted, gold),
        "recall": class_recall(label, predicted, gold),
        "f1": class_f1(label, predicted, gold),
    }


MAX_MISTAKES = 30


def mistakes_report(rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet) -> str:
    """Return the first MAX_MISTAKES wrong rows as Markdown: claim, labels, pairs and missed gold pages."""
    both = zip(rows, predictions, strict=True)
    wrong = [(row, prediction) for row, prediction in both if not is_right(row, prediction, labels)]
    head = f"# {min(MAX_MISTAKES, len(wrong))} of {len(wrong)} rows that are wrong\n"
    return "\n".join(
        [head, *("\n".join(_mistake_lines(row, prediction)) + "\n" for row, prediction in wrong[:MAX_MISTAKES])]
    )


def _mistake_lines(row: Row, prediction: Prediction) -> Iterator[str]:
    predicted = f"predicted {prediction.label.value}" if prediction.label else f"failed: {prediction.problem}"
    confidence = f" ({prediction.confidence:.2f})" if prediction.confidence is not None else ""
    depth = f", {row.hops}-hop" if row.hops else ""
    yield f"## {row.id}{depth}\n"
    yield f"{row.claim}\n"
    yield f"- gold label {row.label.value}, {predicted}{confidence}"
    yield from (f"- {pair.question} **{pair.answer}**" for pair in prediction.evidence)
    if missed := pages_missed(row, prediction):
        yield f"- gold pages not retrieved: {', '.join(missed)}"
    yield from (f"- {trouble}" for trouble in prediction.troubles)
