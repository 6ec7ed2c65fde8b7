"""The history of somebody's runs, with search, filters and cursors, and the comparison of runs of one claim.

Both are pages and operations of the API. Anybody with the links of two to four runs can compare them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.domain.comparison import MAX_RUNS, PageUsed, Row, pages, rows, runs_to_compare
from app.domain.errors import HopcheckError, InvalidInput
from app.domain.messages import Words
from app.domain.model import ANSWERERS, HopStatus, Label
from app.domain.report import Report
from app.runs.projections import Cursor
from app.runs.service import RunFilter, RunSummary, StoredRun
from app.runs.transfer import usage_of
from app.text.claims import MAX_CLAIM_LENGTH
from app.web import capabilities, services
from app.web.api import schemas
from app.web.api.blueprint import operation, status_of
from app.web.auth import current_principal
from app.web.run_view import others_of
from app.web.views import FACES

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
Entry = TypeVar("Entry")


def encode_cursor(at: datetime, run_id: str) -> str:
    """Return the cursor for the position after this run in a list sorted by that time."""
    return f"{(at - _EPOCH) // _MICROSECOND}.{run_id}"


def decode_cursor(cursor: str | None) -> Cursor | None:
    """Return the time and id that a cursor represents. Raises InvalidInput."""
    if cursor is None:
        return None
    at, _, run_id = cursor.partition(".")
    is_time = at.isascii() and at.isdigit() and len(at) < 18  # 18 digits may exceed the range of datetime
    if not is_time or "\0" in run_id:
        raise InvalidInput('The cursor must be the "next" of an earlier response.', "cursor")
    return _EPOCH + int(at) * _MICROSECOND, run_id


def one_page(found: Sequence[Entry], limit: int, time: str) -> tuple[tuple[Entry, ...], str | None]:
    """Return the first `limit` entries of a list sorted by `time`, and the cursor of the next page, None for none."""
    shown: tuple[Any, ...] = tuple(found[:limit])
    return shown, encode_cursor(getattr(shown[-1], time), shown[-1].id) if len(found) > limit else None


history = Blueprint("history", __name__)

RUNS_PER_PAGE = 20
MAX_BATCHES = 5
"""Batches above the list of runs."""

OUTCOMES = (*Label, "running", "failed", "interrupted")
"""The verdict of a run, or why it has none."""

INVALID_CURSOR = Words("That link led to no place in this list, so here is its beginning.")


@history.get("/history")
def page() -> str:
    """Show the owner's runs that match `?q=`, `label=` and `answerer=`, from the cursor `after=` on."""
    try:
        return history_page(cursor=request.args.get("after"))
    except InvalidInput:
        return history_page(INVALID_CURSOR)


def history_page(notice: str = "", cursor: str | None = None) -> str:
    """Render the history as requested; `notice` is one sentence on the result of an action. Sets no cookie."""
    runs, owner, wanted = services().runs, current_principal(), list_filters()
    shown, after = _listed(wanted, RUNS_PER_PAGE, cursor)
    return render_template(
        "history.html",
        runs=shown,
        options=runs.queries.options_of([each.id for each in shown]),
        own_verdicts=runs.notes.verdicts([each.id for each in shown]),
        batches=() if cursor else services().batches.of_owner(owner, MAX_BATCHES),
        wanted=wanted,
        newest=_address(wanted) if cursor else None,
        older=_address(wanted, after) if after else None,
        deleted=runs.deletion.restorable(owner),
        outcomes=OUTCOMES,
        answerers=capabilities().answerers,
        notice=notice,
    )


def list_filters() -> RunFilter:
    """Return the requested filters, ignoring unknown values."""
    words, outcome, answerer = (request.args.get(name, "") for name in ("q", "label", "answerer"))
    known = {each.name for each in capabilities().answerers}
    return RunFilter(
        words[:MAX_CLAIM_LENGTH].strip(),
        outcome if outcome in OUTCOMES else "",
        answerer if answerer in known else "",
        request.args.get("disagreed") == "yes",
    )


def _address(wanted: RunFilter, after: str | None = None) -> str:
    query = {"q": wanted.words, "label": wanted.outcome, "answerer": wanted.answerer}
    known: dict[str, Any] = {name: value or None for name, value in query.items()}
    return url_for("history.page", **known, disagreed="yes" if wanted.disagreed else None, after=after)


@operation("get /runs", "runs", owned=True)
def list_runs(query: schemas.RunListing) -> schemas.RunList:
    """List your runs, newest first."""
    if query.answerer and query.answerer not in ANSWERERS:
        raise InvalidInput(Words("There is no answerer of that name."), "answerer")
    wanted = RunFilter(query.q, query.label or "", query.answerer)
    return schemas.RunList(*_listed(wanted, query.limit, query.cursor))


def _listed(wanted: RunFilter, limit: int, cursor: str | None) -> tuple[tuple[RunSummary, ...], str | None]:
    """Return a page of the principal's runs and the cursor of the next one. Raises InvalidInput for a bad cursor."""
    found = services().runs.recent(current_principal(), limit + 1, decode_cursor(cursor), wanted)
    return one_page(found, limit, "created_at")


comparing = Blueprint("comparing", __name__)

STATUS_ORDER = (HopStatus.KEPT, HopStatus.SET_ASIDE, HopStatus.FAILED, HopStatus.INTERRUPTED, HopStatus.OPEN)

LETTERS = "ABCD"
"""Names of the runs on the page; numbers would be confused with hops."""


@dataclass(frozen=True)
class Comparison:
    """The view model of the comparison."""

    runs: tuple[StoredRun, ...]

    @property
    def columns(self) -> tuple[tuple[str, StoredRun], ...]:
        return tuple(zip(LETTERS, self.runs, strict=False))

    @property
    def running_count(self) -> int:
        return sum(not run.report.ended for run in self.runs)

    @property
    def labels(self) -> tuple[str | None, ...]:
        return tuple(run.report.verdict.label if run.report.verdict else None for run in self.runs)

    @property
    def seen(self) -> str:
        """Return the number of the last event of each run, such as "12-7"."""
        return "-".join(str(run.last_seq) for run in self.runs)

    @property
    def rows(self) -> tuple[Row, ...]:
        return rows([run.report for run in self.runs])

    @property
    def pages(self) -> tuple[PageUsed, ...]:
        return pages([run.report for run in self.runs])


@comparing.get("/compare")
def compare() -> ResponseReturnValue:
    """Compare the requested runs; where that is impossible, show why and offer other runs.

    While a run is running, the page asks again, with the events that it has `seen`; 204 if there are no others.
    """
    ids = request.args.getlist("run")
    try:
        runs = runs_to_compare(services().runs.report, ids)
    except InvalidInput as error:
        return _choose(ids, error), status_of(error)
    comparison, known = Comparison(runs), request.args.get("running")
    if request.args.get("seen") == comparison.seen:
        return "", 204
    has_news = known is not None and known != str(comparison.running_count)
    return render_template("compare.html", comparison=comparison, agreement_changed=has_news)


@operation("get /compare", "reports", errors=(404, 501))
def compare_runs(query: schemas.Compared) -> schemas.Comparison:
    """Compare the current state of two to four runs of one claim. Open to anybody who has the ids."""
    compared = Comparison(runs_to_compare(services().runs.report, query.run))
    return schemas.Comparison(
        tuple(map(_column, compared.runs)),
        tuple(
            schemas.ComparedQuestion(row.question, row.agree, tuple(hop.number if hop else None for hop in row.hops))
            for row in compared.rows
        ),
        tuple(map(_page, compared.pages)),
    )


def _column(run: StoredRun) -> schemas.ComparedRun:
    report = run.report
    label = report.verdict.label if report.verdict else None
    return schemas.ComparedRun(
        run.id, report.ended or "running", label, round(report.seconds, 3), usage_of(report.usage)
    )


def _page(page: PageUsed) -> schemas.ComparedPage:
    passage, uses = page.passage, tuple(schemas.PageUse(use.cited, use.read) for use in page.uses)
    return schemas.ComparedPage(passage.title, passage.source, passage.url, page.alike, uses)


@comparing.app_template_filter("hop_counts")
def hop_counts(report: Report) -> str:
    """Return the number of hops and their outcomes: "4: 2 used, 1 failed, 1 in progress"; "" for none."""
    counted = Counter(hop.status for hop in report.hops)
    counts = [
        Words("{number} {outcome:lower}", number=counted[status], outcome=FACES[status].word)
        for status in STATUS_ORDER
        if counted[status]
    ]
    return Words("{number}: {counts}", number=len(report.hops), counts=Words.joined(", ", counts)) if counts else ""


def _choose(ids: Sequence[str], problem: HopcheckError) -> str:
    """Render the error, and this browser's other checks of the claim of the first run that exists."""
    read = (services().runs.report(run_id) for run_id in ids[:MAX_RUNS])
    run = next(filter(None, read), None)
    others = others_of(run) if run else ()
    return render_template("compare_choose.html", run=run, others=others, problem=problem, any_chosen=any(ids))
