"""Figures as Markdown tables, for people and for docs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.domain.model import LabelSet
from research.evaluation.datasets import Row
from research.evaluation.harness import is_right
from research.evaluation.labels import Gold, as_gold
from research.evaluation.metrics import (
    accuracy_interval,
    auc,
    f1_of,
    macro_f1,
    macro_f1_interval,
    precision_of,
    recall_of,
)
from research.evaluation.predictions import Prediction
from research.evaluation.retrieval import page_recall, pages_missed

COLUMNS = ("rows", "n", "failed", "accuracy", "macro-F1", "AUC", "gold pages found")


def figures_table(figures: dict[str, Any]) -> str:
    """All rows, then by hops; below the classes, and AVeriTeC's scores where there are any."""
    lines = [_line("all", figures), *(_line(f"{hops}-hop", row) for hops, row in figures["by_hops"].items())]
    parts = [table(COLUMNS, lines), table(("class", "n", "precision", "recall", "F1"), _classes(figures))]
    if "averitec" in figures:
        scores = figures["averitec"]
        levels = [f"AVeriTeC at {level}" for level in scores["scores"]]
        cells = [scores["questions"], scores["pairs"], *scores["scores"].values()]
        parts.append(table(("questions", "questions and answers", *levels), [[share(each) for each in cells]]))
        parts.append(table(("justification", *levels), [[share(each) for each in _justified(scores)]]))
        parts.append(table(("claims of the type", "n", "accuracy", "evidence", "AVeriTeC at 0.25"), _types(scores)))
    return "\n".join(parts)


def side_by_side(evaluations: Mapping[str, dict[str, Any]]) -> str:
    """Several evaluations by their names: macro-F1 and accuracy of all rows, macro-F1 and gold pages by hops."""
    hops = sorted({depth for figures in evaluations.values() for depth in figures["by_hops"]})
    head = ["evaluation", "n", "failed", "accuracy", "macro-F1"]
    head += [f"{depth}-hop: {what}" for depth in hops for what in ("n", "macro-F1", "gold pages found")]
    return table(head, [[name, *_beside(figures, hops)] for name, figures in evaluations.items()])


def _justified(scores: dict[str, Any]) -> list[float | None]:
    found = scores["justification"]
    return [found["mean"], *found["scores"].values()]


def _types(scores: dict[str, Any]) -> Iterator[list[str]]:
    for name, row in scores["types"].items():
        yield [name, str(row["n"]), *(share(row[each]) for each in ("accuracy", "evidence", "score"))]


def _beside(figures: dict[str, Any], hops: Sequence[str]) -> Iterable[str]:
    yield from (str(figures["n"]), str(figures["failed"]))
    yield from (share(figures[name], figures["intervals"][name]) for name in ("accuracy", "macro_f1"))
    for depth in hops:
        row = figures["by_hops"].get(depth)
        found = row and row.get("retrieval")
        yield str(row["n"]) if row else "0"
        yield share(row["macro_f1"], row["intervals"]["macro_f1"]) if row else "none"
        yield share(found["recall"]) if found else "none"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; what would break a cell is taken out."""
    lines = (" | ".join(cell.replace("|", "/").replace("\n", " ") for cell in row) for row in rows)
    return "".join(f"| {line} |\n" for line in (" | ".join(head), "|".join(["---"] * len(head)), *lines))


def share(value: float | None, interval: Sequence[float] | None = None) -> str:
    """0.567 (0.541 to 0.592); "none" where there is no figure."""
    if value is None:
        return "none"
    return f"{value:.3f}" + (f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else "")


def _line(name: str, row: dict[str, Any]) -> list[str]:
    within, found = row["intervals"], row.get("retrieval")
    return [
        name,
        str(row["n"]),
        str(row["failed"]),
        share(row["accuracy"], within["accuracy"]),
        share(row["macro_f1"], within["macro_f1"]),
        share(row["auc"]),
        share(found["recall"]) if found else "none",
    ]


def _classes(figures: dict[str, Any]) -> Iterable[list[str]]:
    for label, row in figures["per_class"].items():
        yield [label, str(row["n"]), *(share(row[name]) for name in ("precision", "recall", "f1"))]


# The figures over a set's rows and their predictions: all of them, by class, and by the number of hops.

FAILED = "failed"
"""What a prediction that failed stands under, beside the labels."""


def measured(rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet, seed: int = 7) -> dict[str, Any]:
    """The figures over rows and their predictions, in the same order; failed predictions count as wrong.

    `auc` is of SUPPORTED against all else, None when one of the two is missing or no probabilities are known. The
    intervals are of 95%, by a bootstrap over the rows that `seed` makes repeatable.
    """
    pairs = list(zip(rows, predictions, strict=True))
    classes = sorted({row.label for row in rows})
    told = [as_gold(prediction.label, row.label, classes, labels) for row, prediction in pairs]
    gold = [row.label.value for row in rows]

    def over(places: Sequence[int]) -> dict[str, Any]:
        chosen = [pairs[at] for at in places]
        return _figures(chosen, [told[at] for at in places], [gold[at] for at in places], labels, seed)

    hops = sorted({row.hops for row in rows if row.hops is not None})
    return over(range(len(pairs))) | {
        "per_class": {label.value: _of_class(label.value, told, gold) for label in classes},
        "by_hops": {str(count): over([at for at, row in enumerate(rows) if row.hops == count]) for count in hops},
        "confusion": {label.value: _said_of(label, pairs) for label in Gold if label in classes},
        "problems": dict(Counter(prediction.problem for _, prediction in pairs if prediction.problem)),
        "troubles": sum(len(prediction.troubles) for _, prediction in pairs),
    }


def _figures(
    pairs: Sequence[tuple[Row, Prediction]], told: Sequence[str], gold: Sequence[str], labels: LabelSet, seed: int
) -> dict[str, Any]:
    right = [is_right(row, prediction, labels) for row, prediction in pairs]
    found = {
        "n": len(pairs),
        "failed": sum(prediction.label is None for _, prediction in pairs),
        "accuracy": sum(right) / len(pairs),
        "macro_f1": macro_f1(told, gold),
        "auc": _auc(pairs),
        "intervals": {
            "accuracy": accuracy_interval(right, seed),
            "macro_f1": macro_f1_interval(told, gold, seed),
        },
    }
    retrieval = page_recall([row for row, _ in pairs], [prediction for _, prediction in pairs])
    return found | {"retrieval": retrieval} if retrieval else found


def _auc(pairs: Sequence[tuple[Row, Prediction]]) -> float | None:
    """A failed prediction stands at the wrong end, so that failing never makes the figure better."""
    positive = [row.label is Gold.SUPPORTED for row, _ in pairs]
    known = any(prediction.supported is not None for _, prediction in pairs)
    if not known or len(set(positive)) < 2:
        return None
    scores = [
        prediction.supported if prediction.supported is not None else -math.inf if supported else math.inf
        for (_, prediction), supported in zip(pairs, positive, strict=True)
    ]
    return auc(scores, positive)


def _said_of(label: Gold, pairs: Sequence[tuple[Row, Prediction]]) -> dict[str, int]:
    """How often what was said of the rows labelled so, as it was said: HoVer's "not supported" folds nothing here."""
    said = Counter(
        prediction.label.value if prediction.label else FAILED for row, prediction in pairs if row.label == label
    )
    return dict(sorted(said.items()))


def _of_class(label: str, told: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    return {
        "n": gold.count(label),
        "precision": precision_of(label, told, gold),
        "recall": recall_of(label, told, gold),
        "f1": f1_of(label, told, gold),
    }


# The first wrong rows in full, for whoever wants to read where an evaluation went wrong and why.

MOST = 30


def mistakes(rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet) -> str:
    """Markdown: of the first wrong rows, in the seed's order, claim, labels, pairs, and missed gold pages."""
    both = zip(rows, predictions, strict=True)
    wrong = [(row, prediction) for row, prediction in both if not is_right(row, prediction, labels)]
    head = f"# {min(MOST, len(wrong))} of {len(wrong)} rows that are wrong\n"
    return "\n".join([head, *("\n".join(_told(row, prediction)) + "\n" for row, prediction in wrong[:MOST])])


def _told(row: Row, prediction: Prediction) -> Iterator[str]:
    said = f"said {prediction.label.value}" if prediction.label else f"failed: {prediction.problem}"
    sure = f" ({prediction.confidence:.2f})" if prediction.confidence is not None else ""
    depth = f", {row.hops}-hop" if row.hops else ""
    yield f"## {row.id}{depth}\n"
    yield f"{row.claim}\n"
    yield f"- the set says {row.label.value}, {said}{sure}"
    yield from (f"- {piece.question} **{piece.answer}**" for piece in prediction.evidence)
    if missed := pages_missed(row, prediction):
        yield f"- not looked at: {', '.join(missed)}"
    yield from (f"- {trouble}" for trouble in prediction.troubles)
