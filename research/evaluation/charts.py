"""The two plots of an evaluation as SVG: what was said of each class, and risk against coverage.

The same figures make the same file, byte by byte.
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
    """A matrix: a row for each class of the set, a column for each label that was said, and the counts as text."""
    said = [label for label in (*Label, FAILED) if any(label in row for row in confusion.values())]
    counts = [[row.get(label, 0) for label in said] for row in confusion.values()]
    with _figure(2.6 + 1.1 * len(said), 1.7 + 0.6 * len(counts), path) as axes:
        shares = [[count / max(sum(row), 1) for count in row] for row in counts]
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for at, row in enumerate(counts):
            for place, count in enumerate(row):
                ink = LIGHT if shares[at][place] > 0.5 else DARK
                axes.text(place, at, str(count), ha="center", va="center", color=ink)
        axes.set_xticks(range(len(said)), [_words(label) for label in said])
        axes.set_yticks(range(len(counts)), [_words(label) for label in confusion])
        axes.set(xlabel="said", ylabel="the set says")


def draw_risk(curve: Sequence[tuple[float, float]], path: Path) -> None:
    """Among the surest so many predictions, how many are wrong; (coverage, risk) pairs."""
    with _figure(6, 3.5, path) as axes:
        axes.plot(*zip(*curve, strict=True), marker="o", markersize=3)
        axes.set(xlabel="coverage: the surest so many", ylabel="risk: the share that is wrong", xlim=(0, 1))
        axes.set_ylim(0, None)
        axes.grid(alpha=0.3)


def _words(label: str) -> str:
    """SUPPORTED -> supported; long ones on two lines."""
    return label.lower().replace("_", " ").replace(" evidence", "\nevidence")


@contextmanager
def _figure(width: float, height: float, path: Path) -> Iterator[Any]:
    """One plot, written to `path` as SVG when the block ends, without a date and with the same names every time."""
    from matplotlib import rc_context  # takes a second, which only those who draw wait for
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "hopcheck", "svg.fonttype": "none"}):
        drawn = Figure(figsize=(width, height), layout="tight")
        yield drawn.subplots()
        drawn.savefig(path, format="svg", metadata={"Date": None})
