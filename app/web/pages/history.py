"""The history of this browser's runs, with search, filters and pages; cursors for long lists."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from flask import Blueprint, render_template, request, session, url_for

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.projections import Position
from app.runs.service import RunFilter
from app.web.services import capabilities, services

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def cursor_of(at: datetime, run_id: str) -> str:
    """Return the cursor for the position after this run in a list sorted by that time."""
    return f"{(at - _EPOCH) // _MICROSECOND}.{run_id}"


def position_of(cursor: str, field: str = "cursor") -> Position:
    """Return the time and id that a cursor represents. Raises InvalidInput, naming the field."""
    at, _, run_id = cursor.partition(".")
    is_time = at.isascii() and at.isdigit() and len(at) < 18  # more digits exceed the range of datetime
    if not is_time or "\0" in run_id:
        raise InvalidInput("The cursor must be one that a list of runs gave as its next.", field)
    return _EPOCH + int(at) * _MICROSECOND, run_id


history = Blueprint("history", __name__)

RUNS_PER_PAGE = 20
MAX_SEARCH = 500
"""Characters, as in a claim."""

OUTCOMES = (*Label, "running", "failed", "interrupted")
"""The verdict of a run, or why it has none."""

INVALID_CURSOR = "That link led to no place in this list, so here is its beginning."


@history.get("/history")
def page() -> str:
    """Show the owner's runs that match `?q=`, `label=` and `answerer=`, from the cursor `after=` on."""
    try:
        after = position_of(request.args["after"]) if "after" in request.args else None
    except InvalidInput:
        return history_page(INVALID_CURSOR)
    return history_page(after=after)


def history_page(notice: str = "", after: Position | None = None) -> str:
    """Render the history as requested; `notice` is one sentence on the result of an action. Sets no cookie."""
    runs, owner, wanted = services().runs, session.get("owner", ""), list_filters()
    found = runs.recent(owner, RUNS_PER_PAGE + 1, after, wanted)
    shown = found[:RUNS_PER_PAGE]
    older = _address(wanted, cursor_of(shown[-1].created_at, shown[-1].id)) if len(found) > RUNS_PER_PAGE else None
    return render_template(
        "history.html",
        runs=shown,
        wanted=wanted,
        newest=_address(wanted) if after else None,
        older=older,
        deleted=runs.deletion.restorable(owner),
        outcomes=OUTCOMES,
        answerers=capabilities().answerers,
        notice=notice,
    )


def list_filters() -> RunFilter:
    """Return the requested filters; unknown values are ignored, as the form then shows."""
    words, outcome, answerer = (request.args.get(name, "") for name in ("q", "label", "answerer"))
    known = {each.name for each in capabilities().answerers}
    return RunFilter(
        words[:MAX_SEARCH].strip(),
        outcome if outcome in OUTCOMES else "",
        answerer if answerer in known else "",
    )


def _address(wanted: RunFilter, after: str = "") -> str:
    asked = {"q": wanted.words, "label": wanted.outcome, "answerer": wanted.answerer, "after": after}
    return f"{url_for('history.page')}?{urlencode({name: value for name, value in asked.items() if value})}"
