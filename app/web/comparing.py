"""Two to four runs of one claim side by side, each a column (`/compare?run=A&run=B`), as they stand.

Whoever has the links may compare: a run's page is open to them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from app.reasoning.errors import HopcheckError, InvalidInput
from app.reasoning.side_by_side import PageUsed, Row, pages, rows
from app.runs.comparing import MOST, NoSuchRun, compared
from app.runs.service import StoredRun
from app.web.current import hopcheck

comparing = Blueprint("comparing", __name__)

LETTERS = "ABCD"
"""What the runs are called on the page, in their order: a hop has a number already."""


@dataclass(frozen=True)
class Comparison:
    """The runs beside each other, as the templates need them."""

    runs: tuple[StoredRun, ...]

    @property
    def columns(self) -> tuple[tuple[str, StoredRun], ...]:
        """Each run with its letter."""
        return tuple(zip(LETTERS, self.runs, strict=False))

    @property
    def running(self) -> int:
        """How many of them go on."""
        return sum(not run.report.ended for run in self.runs)

    @property
    def labels(self) -> tuple[str | None, ...]:
        """The label of each, None where there is no verdict."""
        return tuple(run.report.verdict.label if run.report.verdict else None for run in self.runs)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Their hops, one row a question."""
        return rows([run.report for run in self.runs])

    @property
    def pages(self) -> tuple[PageUsed, ...]:
        """The pages that they met."""
        return pages([run.report for run in self.runs])


@comparing.get("/compare")
def compare() -> ResponseReturnValue:
    """The runs of the address beside each other; or, where these cannot be compared, why, and a choice of others."""
    ids = request.args.getlist("run")
    try:
        runs = compared(hopcheck().runs.report, ids)
    except NoSuchRun as error:
        return _choose(ids, error), 404
    except InvalidInput as error:
        return _choose(ids, error), 422
    side = Comparison(runs)
    moving = "follow" if hopcheck().followers.room else "refresh"
    return render_template("compare.html", side=side, mode=moving if side.running else "static")


def _choose(ids: Sequence[str], problem: HopcheckError) -> str:
    """The page that says what is wrong and leads on, from the first of these runs that is there."""
    read = (hopcheck().runs.report(run_id) for run_id in ids[:MOST])
    return render_template("compare_choose.html", run=next(filter(None, read), None), problem=problem)
