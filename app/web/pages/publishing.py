"""Publish reports, and the gallery of published ones. Both need PUBLISHING=on."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.service import StoredRun
from app.web.pages.history import INVALID_CURSOR, cursor_of, position_of
from app.web.pages.run_actions import owned
from app.web.run_view import may_steer, run_page
from app.web.security import STALE, on_csrf_error
from app.web.services import services

publishing = Blueprint("publishing", __name__)

REPORTS_PER_PAGE = 20
CLOSED = "Nothing is published on this site: its operator has not allowed it."


@publishing.app_template_global("may_publish")
def is_open() -> bool:
    """Return whether the operator allows publishing."""
    return services().settings.publishing


@publishing.app_template_global("publishes")
def publishes(run: StoredRun) -> bool:
    """Return whether to show the publishing state of this run: to its owner, once it has a verdict."""
    return is_open() and may_steer(run) and run.report.verdict is not None


@publishing.get("/gallery")
def gallery() -> ResponseReturnValue:
    """Show the published reports, newest first; `?label=` filters, `after=` continues."""
    if not is_open():
        return _closed()
    label, notice, after = request.args.get("label", ""), "", None
    label = label if label in set(Label) else ""
    try:
        after = position_of(request.args["after"]) if "after" in request.args else None
    except InvalidInput:
        notice = INVALID_CURSOR
    found = services().runs.publishing.listed(label, REPORTS_PER_PAGE + 1, after)
    shown = found[:REPORTS_PER_PAGE]
    older = _address(label, cursor_of(shown[-1].published_at, shown[-1].id)) if len(found) > REPORTS_PER_PAGE else None
    newest = _address(label) if after else None
    return render_template(
        "gallery.html", runs=shown, label=label, labels=Label, older=older, newest=newest, notice=notice
    )


@publishing.post("/runs/<run_id>/publish")
def publish(run_id: str) -> ResponseReturnValue:
    """Publish the run in the gallery. Idempotent."""
    run = owned(run_id)
    if not is_open():
        return _closed()
    try:
        services().runs.publishing.publish(run_id)
    except InvalidInput as error:
        return run_page(run, str(error)), 409
    return _to_run(run_id)


@publishing.post("/runs/<run_id>/unpublish")
def unpublish(run_id: str) -> ResponseReturnValue:
    """Remove the run from the gallery, also while publishing is disabled. Idempotent."""
    services().runs.publishing.unpublish(owned(run_id).id)
    return _to_run(run_id)


@on_csrf_error(publishing)
def _stale(error: CSRFError) -> ResponseReturnValue:
    return run_page(owned((request.view_args or {})["run_id"]), STALE), 400


def _to_run(run_id: str) -> ResponseReturnValue:
    return redirect(url_for("pages.run", run_id=run_id, _anchor="keeping"), 303)


def _closed() -> ResponseReturnValue:
    return render_template("error.html", code=404, meaning=CLOSED), 404


def _address(label: str, after: str = "") -> str:
    asked = {"label": label, "after": after}
    return f"{url_for('publishing.gallery')}?{urlencode({name: value for name, value in asked.items() if value})}"
