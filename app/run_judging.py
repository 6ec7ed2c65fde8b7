"""Whole runs for measuring: each claim of a data set is checked as a person's would be, its own evidence unseen."""

from __future__ import annotations

from app.evaluation.datasets import Row
from app.evaluation.harness import Judge, Judged
from app.reasoning.errors import CallFailed
from app.reasoning.events import RunStarted
from app.reasoning.report import fold
from app.reasoning.roles import Strategy
from app.reasoning.types import Claim, RunOptions


def run_judge(strategy: Strategy, options: RunOptions) -> Judge:
    """The verdict of a run with these options. A run that ends without one raises CallFailed, saying why.

    A verdict says how likely its own label is and not how likely SUPPORTED, so there is no area under a curve.
    """

    def judged(row: Row) -> Judged:
        claim = Claim(row.claim)
        report = fold((event, 0.0) for event in (RunStarted(claim, options), *strategy.run(claim, options)))
        if report.verdict is None:
            raise CallFailed(report.problem)
        return Judged(report.verdict.label, report.verdict.confidence)

    return judged
