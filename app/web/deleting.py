"""Deleting a run, after one look back, and having it again for a while: for its owner alone."""

from __future__ import annotations

from contextlib import suppress

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.runs.deletion import UNDO_SECONDS
from app.runs.service import RunSummary, Unreadable
from app.web.current import hopcheck
from app.web.history import history_page
from app.web.stale import STALE, when_stale
from app.web.steering import owned

deleting = Blueprint("deleting", __name__)

TOO_LATE = "There is nothing to undo: that check is gone for good, or it was never one of this browser's."


@deleting.get("/runs/<run_id>/delete")
def confirm(run_id: str) -> ResponseReturnValue:
    """Ask whether the run is to be deleted, and say what that means. Once it is, lead to where that can be undone."""
    return _to_history() if _is_deleted(run_id) else _confirmation(_own(run_id))


@deleting.post("/runs/<run_id>/delete")
def delete(run_id: str) -> ResponseReturnValue:
    """Delete the run, stopping it first where it goes on, and lead to the history. A second time changes nothing."""
    if not _is_deleted(run_id):
        hopcheck().runs.deletion.delete(_own(run_id).id)
    return _to_history()


@deleting.post("/runs/<run_id>/restore")
def restore(run_id: str) -> ResponseReturnValue:
    """Give a deleted run back and lead to it. A second time changes nothing."""
    if not hopcheck().runs.deletion.restore(run_id, session.get("owner", "")) and not _found(run_id):
        return history_page(TOO_LATE), 404
    return redirect(url_for("pages.run", run_id=run_id), 303)


@when_stale(deleting)
def _stale(error: CSRFError) -> ResponseReturnValue:
    """The question again, or the list with its buttons to undo, each with a token that works."""
    run_id = (request.view_args or {})["run_id"]
    if request.endpoint == "deleting.delete" and not _is_deleted(run_id):
        return _confirmation(_own(run_id), STALE), 400
    return history_page(STALE), 400


@deleting.app_template_global("undo_minutes")
def undo_minutes() -> int:
    """How long a deleted run can be had back."""
    return round(UNDO_SECONDS / 60)


def _confirmation(run: RunSummary, notice: str = "") -> str:
    return render_template("delete.html", run=run, notice=notice)


def _to_history() -> ResponseReturnValue:
    return redirect(url_for("history.page"), 303)


def _is_deleted(run_id: str) -> bool:
    """Whether this browser has deleted that run and may still have it back."""
    return any(each.id == run_id for each in hopcheck().runs.deletion.undoable(session.get("owner", "")))


def _own(run_id: str) -> RunSummary:
    """The run, if this browser started it. One that another version stored cannot be read, and yet be deleted."""
    with suppress(Unreadable):
        owned(run_id)
    return _found(run_id) or abort(404)


def _found(run_id: str) -> RunSummary | None:
    return hopcheck().runs.deletion.of_owner(run_id, session.get("owner", ""))
