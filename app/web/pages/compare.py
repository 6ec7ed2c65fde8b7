"""Compare two to four runs of one claim side by side (`/compare?run=A&run=B`), with one stream for all of them.

Anybody with the links can compare, since run pages are open to them too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, Response, abort, render_template, request
from flask.typing import ResponseReturnValue

from app.domain.comparison import PageUsed, Row, pages, rows
from app.domain.errors import HopcheckError, InvalidInput
from app.domain.events import PhaseEntered, TokensUsed
from app.domain.model import HopStatus
from app.domain.report import Report
from app.runs.comparison import MAX_RUNS, NoSuchRun, runs_to_compare
from app.runs.service import StoredEvent, StoredRun
from app.web.run_view import others_of
from app.web.services import services
from app.web.sse import advanced, last_seen, message, stream_messages
from app.web.views import FACES

comparing = Blueprint("comparing", __name__)

UNSHOWN_EVENTS = (PhaseEntered, TokensUsed)
"""Events that change no hop and no source."""

STATUS_ORDER = (HopStatus.KEPT, HopStatus.SET_ASIDE, HopStatus.FAILED, HopStatus.INTERRUPTED, HopStatus.OPEN)

LETTERS = "ABCD"
"""Names of the runs on the page; numbers would be confused with hops."""


@dataclass(frozen=True)
class Comparison:
    """The view model of the comparison."""

    runs: tuple[StoredRun, ...]

    @property
    def columns(self) -> tuple[tuple[str, StoredRun], ...]:
        """Return each run with its letter."""
        return tuple(zip(LETTERS, self.runs, strict=False))

    @property
    def running(self) -> int:
        """Return the number of runs that have not ended."""
        return sum(not run.report.ended for run in self.runs)

    @property
    def labels(self) -> tuple[str | None, ...]:
        """Return the label of each run, None without a verdict."""
        return tuple(run.report.verdict.label if run.report.verdict else None for run in self.runs)

    @property
    def seen(self) -> tuple[int, ...]:
        """Return the number of the last event of each run."""
        return tuple(run.last_seq for run in self.runs)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the hops, one row per question."""
        return rows([run.report for run in self.runs])

    @property
    def pages(self) -> tuple[PageUsed, ...]:
        """Return the pages that the runs read."""
        return pages([run.report for run in self.runs])


@comparing.get("/compare")
def compare() -> ResponseReturnValue:
    """Compare the requested runs; where that is impossible, show why and offer other runs."""
    ids = request.args.getlist("run")
    try:
        runs = runs_to_compare(services().runs.report, ids)
    except NoSuchRun as error:
        return _choose(ids, error), 404
    except InvalidInput as error:
        return _choose(ids, error), 422
    side = Comparison(runs)
    moving = "follow" if services().followers.has_room else "refresh"
    return render_template("compare.html", side=side, mode=moving if side.running else "static")


@comparing.get("/compare/events")
def events() -> Response:
    """Stream updates of the running ones. An `id:` contains the number of the last event of each run: "12-7"."""
    try:
        runs = runs_to_compare(services().runs.report, request.args.getlist("run"))
    except NoSuchRun:
        abort(404)
    except InvalidInput:
        abort(422)
    return stream_messages(ComparisonMessages(Comparison(runs), last_seen(len(runs))), "a comparison")


class ComparisonMessages:
    """The MessageSource of a comparison, which renders whole sections.

    A page that is behind gets every section once, however far behind it is.
    """

    def __init__(self, side: Comparison, seen: tuple[int, ...]) -> None:
        self._side = side
        self._behind = seen != side.seen

    @property
    def ended(self) -> bool:
        return not self._behind and not self._side.running

    def next(self, wait: float) -> str:
        if self._behind:
            self._behind = False
            return self._render(hops=True, agreement=True)
        open_runs = {run.id: run.last_seq for run in self._side.runs if not run.report.ended}
        happened = services().runs.follow_all(open_runs, wait)
        return self._advance(happened) if happened else ""

    def idle(self) -> str:
        return ""  # waiting is among the events

    def _advance(self, happened: Mapping[str, Sequence[StoredEvent]]) -> str:
        before = self._side.running
        self._side = Comparison(tuple(advanced(run, happened.get(run.id, ())) for run in self._side.runs))
        hops_changed = any(
            not isinstance(each.event, UNSHOWN_EVENTS) for events in happened.values() for each in events
        )
        return self._render(hops_changed, agreement=before != self._side.running)

    def _render(self, hops: bool, agreement: bool) -> str:
        """Render the update; the agreement only where it changed, since screen readers announce each insertion."""
        pieces = render_template("compare_update.html", side=self._side, hops=hops, agreed=agreement)
        return message(pieces, "-".join(map(str, self._side.seen)))


@comparing.app_template_filter("hop_counts")
def hop_counts(report: Report) -> str:
    """Return the number of hops and their outcomes: "4: 2 kept, 1 failed, 1 in progress"; "" for none."""
    counted = Counter(hop.status for hop in report.hops)
    counts = [f"{counted[status]} {FACES[status].word.lower()}" for status in STATUS_ORDER if counted[status]]
    return f"{len(report.hops)}: {', '.join(counts)}" if counts else ""


def _choose(ids: Sequence[str], problem: HopcheckError) -> str:
    """Render the error, with other checks of the first run that exists."""
    read = (services().runs.report(run_id) for run_id in ids[:MAX_RUNS])
    run = next(filter(None, read), None)
    others = others_of(run) if run else ()
    return render_template("compare_choose.html", run=run, others=others, problem=problem)
