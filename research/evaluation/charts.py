"""Plot an evaluation as SVG: confusion matrix and risk-coverage curve.

The same figures produce the same file, byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.domain.model import Label
from research.evaluation.report import FAILED

LIGHT, DARK = "#ffffff", "#1f2328"


def draw_confusion(confusion: Mapping[str, Mapping[str, int]], path: Path) -> None:
    """Draw the confusion matrix: a row for each gold label, a column for each predicted label, counts as text."""
    predicted = [label for label in (*Label, FAILED) if any(label in row for row in confusion.values())]
    counts = [[row.get(label, 0) for label in predicted] for row in confusion.values()]
    with _figure(2.6 + 1.1 * len(predicted), 1.7 + 0.6 * len(counts), path) as axes:
        shares = [[count / max(sum(row), 1) for count in row] for row in counts]
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for y, row in enumerate(counts):
            for x, count in enumerate(row):
                color = LIGHT if shares[y][x] > 0.5 else DARK
                axes.text(x, y, str(count), ha="center", va="center", color=color)
        axes.set_xticks(range(len(predicted)), [_display_name(label) for label in predicted])
        axes.set_yticks(range(len(counts)), [_display_name(label) for label in confusion])
        axes.set(xlabel="predicted label", ylabel="gold label")


def draw_risk(curve: Sequence[tuple[float, float]], path: Path) -> None:
    """Draw the risk-coverage curve, given as (coverage, risk) pairs."""
    with _figure(6, 3.5, path) as axes:
        axes.plot(*zip(*curve, strict=True), marker="o", markersize=3)
        axes.set(xlabel="coverage (most confident first)", ylabel="risk (share of errors)", xlim=(0, 1))
        axes.set_ylim(0, None)
        axes.grid(alpha=0.3)


def _display_name(label: str) -> str:
    """Return the label in lower case, a long one on two lines."""
    return label.lower().replace("_", " ").replace(" evidence", "\nevidence")


@contextmanager
def _figure(width: float, height: float, path: Path) -> Iterator[Any]:
    """Yield axes and write the plot to `path` at the end of the block, without a date and with reproducible ids."""
    from matplotlib import rc_context  # not at the top: takes a second to import
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "hopcheck", "svg.fonttype": "none"}):
        drawn = Figure(figsize=(width, height), layout="tight")
        yield drawn.subplots()
        drawn.savefig(path, format="svg", metadata={"Date": None})
