"""Figures as Markdown tables, for people and for docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
    return "\n".join(parts)


def side_by_side(evaluations: Mapping[str, dict[str, Any]]) -> str:
    """Several evaluations by their names: macro-F1 and accuracy of all rows, macro-F1 and gold pages by hops."""
    hops = sorted({depth for figures in evaluations.values() for depth in figures["by_hops"]})
    head = ["evaluation", "n", "failed", "accuracy", "macro-F1"]
    head += [f"{depth}-hop: {what}" for depth in hops for what in ("n", "macro-F1", "gold pages found")]
    return table(head, [[name, *_beside(figures, hops)] for name, figures in evaluations.items()])


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
