"""Publishing a report, and the gallery of those that were. Without PUBLISHING=on there is neither."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.service import StoredRun
from app.web.pages.history import NO_SUCH_PLACE, cursor_of, place_of
from app.web.pages.home import run_page
from app.web.pages.run_actions import may_steer, owned
from app.web.security import STALE, when_stale
from app.web.services import services

publishing = Blueprint("publishing", __name__)

AT_ONCE = 20
CLOSED = "Nothing is published on this site: its operator has not allowed it."


@publishing.app_template_global("may_publish")
def is_open() -> bool:
    """Whether the operator lets people publish."""
    return services().settings.publishing


@publishing.app_template_global("publishes")
def publishes(run: StoredRun) -> bool:
    """Whether the page of this run is for its owner, who is told how it stands with publishing it."""
    return is_open() and may_steer(run) and run.report.verdict is not None


@publishing.get("/gallery")
def gallery() -> ResponseReturnValue:
    """The published reports, the last first, some at a time; `?label=` and `after=` choose."""
    if not is_open():
        return _closed()
    label, notice, after = request.args.get("label", ""), "", None
    label = label if label in set(Label) else ""
    try:
        after = place_of(request.args["after"]) if "after" in request.args else None
    except InvalidInput:
        notice = NO_SUCH_PLACE
    found = services().runs.publishing.listed(label, AT_ONCE + 1, after)
    shown = found[:AT_ONCE]
    older = _address(label, cursor_of(shown[-1].published_at, shown[-1].id)) if len(found) > AT_ONCE else None
    newest = _address(label) if after else None
    return render_template(
        "gallery.html", runs=shown, label=label, labels=Label, older=older, newest=newest, notice=notice
    )


@publishing.post("/runs/<run_id>/publish")
def publish(run_id: str) -> ResponseReturnValue:
    """Put the run in the gallery. Once more changes nothing."""
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
    """Take the run out of the gallery, also where nothing is published any more. Once more changes nothing."""
    services().runs.publishing.unpublish(owned(run_id).id)
    return _to_run(run_id)


@when_stale(publishing)
def _stale(error: CSRFError) -> ResponseReturnValue:
    return run_page(owned((request.view_args or {})["run_id"]), STALE), 400


def _to_run(run_id: str) -> ResponseReturnValue:
    return redirect(url_for("pages.run", run_id=run_id, _anchor="keeping"), 303)


def _closed() -> ResponseReturnValue:
    return render_template("error.html", code=404, meaning=CLOSED), 404


def _address(label: str, after: str = "") -> str:
    asked = {"label": label, "after": after}
    return f"{url_for('publishing.gallery')}?{urlencode({name: value for name, value in asked.items() if value})}"
