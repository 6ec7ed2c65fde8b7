"""The history of this browser: what it has checked, searched and filtered, newest first, some at a time."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Blueprint, render_template, request, session, url_for

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.projections import Position
from app.runs.service import RunFilter
from app.web.current import capabilities, hopcheck
from app.web.paging import cursor_of, place_of

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
    runs, owner, wanted = hopcheck().runs, session.get("owner", ""), sent_wishes()
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


def sent_wishes() -> RunFilter:
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
