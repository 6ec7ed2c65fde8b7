"""Deleting a batch with all its runs, after one look back, and having it again for a while: for its owner alone."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.runs.batches import Batch
from app.web.batches import form_page, owned
from app.web.current import hopcheck
from app.web.stale import STALE, when_stale

batch_deleting = Blueprint("batch_deleting", __name__)

TOO_LATE = "There is nothing to undo: that batch is gone for good, or it was never one of this browser's."


@batch_deleting.get("/batches/<batch_id>/delete")
def confirm(batch_id: str) -> ResponseReturnValue:
    """Ask whether the batch is to be deleted, and say what that means. Once it is, lead to where that can be undone."""
    return _to_batches() if _is_deleted(batch_id) else _confirmation(owned(batch_id))


@batch_deleting.post("/batches/<batch_id>/delete")
def delete(batch_id: str) -> ResponseReturnValue:
    """Delete the batch, cancelling it first where it goes on. A second time changes nothing."""
    if not _is_deleted(batch_id):
        hopcheck().runs.batch_deletion.delete(owned(batch_id).id)
    return _to_batches()


@batch_deleting.post("/batches/<batch_id>/restore")
def restore(batch_id: str) -> ResponseReturnValue:
    """Give a deleted batch back and lead to it. A second time changes nothing."""
    whose, runs = session.get("owner", ""), hopcheck().runs
    if not runs.batch_deletion.restore(batch_id, whose):
        batch = runs.batches.get(batch_id)
        if batch is None or batch.owner != whose:
            return form_page(notice=TOO_LATE), 404
    return redirect(url_for("batches.page", batch_id=batch_id), 303)


@when_stale(batch_deleting)
def _stale(error: CSRFError) -> ResponseReturnValue:
    """The question again, or the list with its buttons to undo, each with a token that works."""
    batch_id = (request.view_args or {})["batch_id"]
    if request.endpoint == "batch_deleting.delete" and not _is_deleted(batch_id):
        return _confirmation(owned(batch_id), STALE), 400
    return form_page(notice=STALE), 400


def _confirmation(batch: Batch, notice: str = "") -> str:
    return render_template("batch_delete.html", batch=batch, notice=notice)


def _to_batches() -> ResponseReturnValue:
    return redirect(url_for("batches.form"), 303)


def _is_deleted(batch_id: str) -> bool:
    """Whether this browser has deleted that batch and may still have it back."""
    return any(each.id == batch_id for each in hopcheck().runs.batch_deletion.undoable(session.get("owner", "")))
