"""Two to four runs of one claim side by side, each a column (`/compare?run=A&run=B`), and one stream for all of them.

Whoever has the links may compare: a run's page is open to them too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, Response, abort, render_template, request, session
from flask.typing import ResponseReturnValue

from app.domain.comparison import PageUsed, Row, pages, rows
from app.domain.errors import HopcheckError, InvalidInput
from app.domain.events import PhaseEntered, TokensUsed
from app.domain.model import HopStatus
from app.domain.report import Report
from app.runs.comparison import MAX_RUNS, NoSuchRun, normalised_claim, runs_to_compare
from app.runs.service import RunFilter, RunSummary, StoredEvent, StoredRun
from app.web.services import services
from app.web.sse import advanced, last_seen, message, stream_messages
from app.web.views import FACES

comparing = Blueprint("comparing", __name__)

QUIET = (PhaseEntered, TokensUsed)
"""What changes no hop and no source."""

COUNTED = (HopStatus.KEPT, HopStatus.SET_ASIDE, HopStatus.FAILED, HopStatus.INTERRUPTED, HopStatus.OPEN)

MOST_OTHERS = 8
LOOKED_AT = 40
"""Runs whose claims have all the words of a claim, of which some may be of longer claims."""

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
    def seen(self) -> tuple[int, ...]:
        """The number of the last event of each."""
        return tuple(run.last_seq for run in self.runs)

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
    """What happens in the runs that still go on. An `id:` is the number of the last event of each: "12-7"."""
    try:
        runs = runs_to_compare(services().runs.report, request.args.getlist("run"))
    except NoSuchRun:
        abort(404)
    except InvalidInput:
        abort(422)
    return stream_messages(Beside(Comparison(runs), last_seen(len(runs))), "a comparison")


class Beside:
    """The messages for a browser that compares runs (sse.MessageSource): whole pieces, as they now are.

    So it does not matter how far the browser's page was behind: it then gets every piece once, and what happens next.
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
            return self._drawn(hops=True, agreement=True)
        open_runs = {run.id: run.last_seq for run in self._side.runs if not run.report.ended}
        happened = services().runs.follow_all(open_runs, wait)
        return self._grown(happened) if happened else ""

    def idle(self) -> str:
        return ""  # that a run waits for its turn is among its events

    def _grown(self, happened: Mapping[str, Sequence[StoredEvent]]) -> str:
        before = self._side.running
        self._side = Comparison(tuple(advanced(run, happened.get(run.id, ())) for run in self._side.runs))
        told_hops = any(not isinstance(each.event, QUIET) for events in happened.values() for each in events)
        return self._drawn(told_hops, agreement=before != self._side.running)

    def _drawn(self, hops: bool, agreement: bool) -> str:
        """The agreement only where it is another one: a screen reader says it each time that it is put there."""
        pieces = render_template("compare_update.html", side=self._side, hops=hops, agreed=agreement)
        return message(pieces, "-".join(map(str, self._side.seen)))


@comparing.app_template_filter("hop_counts")
def hop_counts(report: Report) -> str:
    """How many hops a run has, and what became of them: "4: 2 kept, 1 failed, 1 in progress"; "" for none."""
    counted = Counter(hop.status for hop in report.hops)
    told = [f"{counted[status]} {FACES[status].word.lower()}" for status in COUNTED if counted[status]]
    return f"{len(report.hops)}: {', '.join(told)}" if told else ""


@comparing.app_template_global("others_of")
def others_of(run: StoredRun) -> tuple[RunSummary, ...]:
    """The other checks of its claim that this browser began, newest first, whoever began this one.

    A check that was asked again keeps no link to the first; the claim is what they have in common.
    """
    if "owner" not in session:
        return ()
    claim = run.report.claim.text
    found = services().runs.recent(session["owner"], LOOKED_AT, wanted=RunFilter(words=claim))
    others = [each for each in found if each.id != run.id and normalised_claim(each.claim) == normalised_claim(claim)]
    return tuple(others[:MOST_OTHERS])


def _choose(ids: Sequence[str], problem: HopcheckError) -> str:
    """The page that says what is wrong and leads on, from the first of these runs that is there."""
    read = (services().runs.report(run_id) for run_id in ids[:MAX_RUNS])
    return render_template("compare_choose.html", run=next(filter(None, read), None), problem=problem)
