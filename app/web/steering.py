"""What a run's owner can do to it: stop it, or have it conclude with what it has.

Only the browser that started a run is offered these, and to any other one there is no such page. With script a button
changes nothing but its own place on the page, and the stream tells the rest; without, it leads back to the run's page.
"""

from __future__ import annotations

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.runs.service import StoredRun
from app.web.audit import refused
from app.web.current import hopcheck
from app.web.pages import run_page
from app.web.stale import STALE, when_stale

steering = Blueprint("steering", __name__)

STOPPED = "Its owner stopped this check."
ENDED = "This check had ended already, so nothing was changed."
NOTHING_KEPT = "Nothing has been kept yet that a verdict could rest on. Wait for an answer, or stop the check."


@steering.post("/runs/<run_id>/stop")
def stop(run_id: str) -> ResponseReturnValue:
    """End the run at once: finished hops stand, the one under way is marked."""
    owned(run_id)
    return _done(run_id) if hopcheck().runs.interrupt(run_id, STOPPED) else _told(run_id, ENDED, 409)


@steering.post("/runs/<run_id>/conclude")
def conclude(run_id: str) -> ResponseReturnValue:
    """Ask for a verdict from what has been kept; the hop under way is left where it is."""
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        return _told(run_id, NOTHING_KEPT, 409)
    return _done(run_id) if hopcheck().runs.conclude(run_id) else _told(run_id, ENDED, 409)


@steering.app_template_global("may_steer")
def may_steer(run: StoredRun) -> bool:
    """Whether this browser started the run. Looking makes no cookie."""
    return session.get("owner") == run.owner


def owned(run_id: str) -> StoredRun:
    """The run, if this browser started it; for everybody else there is nothing here."""
    run = hopcheck().runs.report(run_id)
    if run is None:
        abort(404)
    if not may_steer(run):
        refused("owner")
        abort(404)
    return run


@when_stale(steering)
def _stale(error: CSRFError) -> ResponseReturnValue:
    return _told(owned((request.view_args or {})["run_id"]).id, STALE, 400)


def _done(run_id: str) -> ResponseReturnValue:
    """The wish is stored: the run's page shows it, or the place of the buttons on the page that is there."""
    return _buttons(run_id) if _scripted() else redirect(url_for("pages.run", run_id=run_id), 303)


def _told(run_id: str, notice: str, code: int) -> ResponseReturnValue:
    """The run's page with one sentence on it. Script swaps in no page with an error, so it gets the sentence alone."""
    if _scripted():
        return _buttons(run_id, notice)
    run = hopcheck().runs.report(run_id) or abort(404)
    return run_page(run, notice), code


def _buttons(run_id: str, notice: str = "") -> str:
    run = hopcheck().runs.report(run_id) or abort(404)
    return render_template("steered.html", run=run, notice=notice)


def _scripted() -> bool:
    return "HX-Request" in request.headers
