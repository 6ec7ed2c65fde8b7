"""Draws the judge's risk against its coverage from the metrics beside its weights.

.venv/bin/python -m benchmarks.judge_chart docs/judge-risk.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib

from app.container.container import SHIPPED

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "hopcheck"
"""The same figures make the same file."""


def main() -> None:
    """One curve: among the surest so many pairs, how many are wrong."""
    from matplotlib import pyplot

    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path, help="SVG file to write")
    out = arguments.parse_args().out
    metrics = json.loads((SHIPPED / "judge" / "metrics.json").read_text(encoding="utf-8"))
    coverage, risk = zip(*metrics["risk_against_coverage"], strict=True)
    figure, axes = pyplot.subplots(figsize=(6, 3.5))
    axes.plot(coverage, risk, marker="o", markersize=3)
    axes.set(xlabel="coverage: the surest so many", ylabel="risk: the share that is wrong", xlim=(0, 1), ylim=(0, None))
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main()
