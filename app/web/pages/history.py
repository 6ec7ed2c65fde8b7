"""The history of this browser: what it has checked, searched and filtered, newest first, some at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from flask import Blueprint, render_template, request, session, url_for

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.projections import Position
from app.runs.service import RunFilter
from app.web.services import capabilities, services

# Long lists, some at a time: what stands in an address for the place behind a run, and back.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def cursor_of(at: datetime, run_id: str) -> str:
    """What stands for the place behind this run in a list by that time."""
    return f"{(at - _EPOCH) // _MICROSECOND}.{run_id}"


def place_of(cursor: str, field: str = "cursor") -> Position:
    """The time and id of the run behind which to go on. Raises InvalidInput, naming the field, for other text."""
    at, _, run_id = cursor.partition(".")
    if not (at.isascii() and at.isdigit() and len(at) < 18) or "\0" in run_id:  # so far a time can be told
        raise InvalidInput("The cursor must be one that a list of runs gave as its next.", field)
    return _EPOCH + int(at) * _MICROSECOND, run_id


history = Blueprint("history", __name__)

AT_ONCE = 20
LONGEST_SEARCH = 500
"""Characters: as many as a claim may have."""

OUTCOMES = (*Label, "running", "failed", "interrupted")
"""How a run may stand: what its verdict is, or why it has none."""

NO_SUCH_PLACE = "That link led to no place in this list, so here is its beginning."


@history.get("/history")
def page() -> str:
    """The owner's runs that fit `?q=`, `label=` and `answerer=`, from `after=` on."""
    try:
        after = place_of(request.args["after"]) if "after" in request.args else None
    except InvalidInput:
        return history_page(NO_SUCH_PLACE)
    return history_page(after=after)


def history_page(notice: str = "", after: Position | None = None) -> str:
    """The history as the request asks for it, with one sentence on it that says what has just happened.

    Looking makes no cookie: who has none has checked nothing yet.
    """
    runs, owner, wanted = services().runs, session.get("owner", ""), list_filters()
    found = runs.recent(owner, AT_ONCE + 1, after, wanted)
    shown = found[:AT_ONCE]
    older = _address(wanted, cursor_of(shown[-1].created_at, shown[-1].id)) if len(found) > AT_ONCE else None
    return render_template(
        "history.html",
        runs=shown,
        wanted=wanted,
        newest=_address(wanted) if after else None,
        older=older,
        deleted=runs.deletion.undoable(owner),
        outcomes=OUTCOMES,
        answerers=capabilities().answerers,
        notice=notice,
    )


def list_filters() -> RunFilter:
    """What the request asks for; a choice that is not known counts as none, as the form then shows."""
    words, outcome, answerer = (request.args.get(name, "") for name in ("q", "label", "answerer"))
    known = {each.name for each in capabilities().answerers}
    return RunFilter(
        words[:LONGEST_SEARCH].strip(),
        outcome if outcome in OUTCOMES else "",
        answerer if answerer in known else "",
    )


def _address(wanted: RunFilter, after: str = "") -> str:
    asked = {"q": wanted.words, "label": wanted.outcome, "answerer": wanted.answerer, "after": after}
    return f"{url_for('history.page')}?{urlencode({name: value for name, value in asked.items() if value})}"
