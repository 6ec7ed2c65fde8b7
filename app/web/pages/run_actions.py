"""What a run's owner can do to it: stop it, or have it conclude with what it has.

Only the browser that started a run is offered these, and to any other one there is no such page. With script a button
changes nothing but its own place on the page, and the stream tells the rest; without, it leads back to the run's page.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.config.settings import MAX_HOPS
from app.domain.errors import InvalidInput
from app.domain.model import Hop, Question
from app.run_request import raw_options, resolve_options
from app.runs.branching import hop_to_change
from app.runs.deletion import UNDO_SECONDS
from app.runs.service import RunSummary, StoredRun, Unreadable
from app.text.claims import clean_question
from app.web.api.auth import client
from app.web.observability import about_run, refused
from app.web.pages.history import history_page
from app.web.pages.home import run_page
from app.web.security import STALE, owner, when_stale
from app.web.services import capabilities, services

steering = Blueprint("steering", __name__)

STOPPED = "Its owner stopped this check."
ENDED = "This check had ended already, so nothing was changed."
NOTHING_KEPT = "Nothing has been kept yet that a verdict could rest on. Wait for an answer, or stop the check."


@steering.post("/runs/<run_id>/stop")
def stop(run_id: str) -> ResponseReturnValue:
    """End the run at once: finished hops stand, the one under way is marked."""
    owned(run_id)
    return _done(run_id) if services().runs.interrupt(run_id, STOPPED) else _told(run_id, ENDED, 409)


@steering.post("/runs/<run_id>/conclude")
def conclude(run_id: str) -> ResponseReturnValue:
    """Ask for a verdict from what has been kept; the hop under way is left where it is."""
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        return _told(run_id, NOTHING_KEPT, 409)
    return _done(run_id) if services().runs.conclude(run_id) else _told(run_id, ENDED, 409)


@steering.app_template_global("may_steer")
def may_steer(run: StoredRun) -> bool:
    """Whether this browser started the run. Looking makes no cookie."""
    return session.get("owner") == run.owner


def owned(run_id: str) -> StoredRun:
    """The run, if this browser started it; for everybody else there is nothing here."""
    run = services().runs.report(run_id)
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
    run = services().runs.report(run_id) or abort(404)
    return run_page(run, notice), code


def _buttons(run_id: str, notice: str = "") -> str:
    run = services().runs.report(run_id) or abort(404)
    return render_template("steered.html", run=run, notice=notice)


def _scripted() -> bool:
    return "HX-Request" in request.headers


# Going on from a run that has ended: another question in a hop's place, or none, or another answerer from there on.
#
# Only the browser that started a run branches it. The new run is one of its own, and leads back to the first.

branching = Blueprint("branching", __name__)


@dataclass(frozen=True)
class BranchForm:
    """The fields as typed; `answerer` is "" where the run is to keep its own. `name` is the form's, a random one."""

    question: str
    answerer: str = ""
    name: str = ""


@branching.get("/runs/<run_id>/branch")
def form(run_id: str) -> ResponseReturnValue:
    """The form for one hop (`?hop=2`)."""
    run = owned(run_id)
    try:
        hop = _hop(run, request.args.get("hop", ""))
    except InvalidInput as error:
        return run_page(run, str(error)), 404
    return _page(run, hop, BranchForm(hop.question.text, run.report.options.answerer))


@branching.post("/runs/<run_id>/branch")
def branch(run_id: str) -> ResponseReturnValue:
    """Start the run that goes on, and lead to its page."""
    run = owned(run_id)
    try:
        hop = _hop(run, request.form.get("hop", ""))
    except InvalidInput as error:
        return run_page(run, str(error)), 409
    sent = BranchForm(*(request.form.get(name, "") for name in ("question", "answerer", "form_name")))
    try:
        child = branch_off(run, hop, sent, "leave_out" in request.form, owner())
    except InvalidInput as error:
        return _page(run, hop, sent, error), 422
    about_run(child)
    return redirect(url_for("pages.run", run_id=child), 303)


@branching.app_template_global("branches_of")
def branches_of(run: StoredRun) -> tuple[RunSummary, ...]:
    """The runs that branch off this one, for whoever made them: the links to them are theirs to give away."""
    return services().runs.branches(run.id) if may_steer(run) else ()


@when_stale(branching)
def _branching_stale(error: CSRFError) -> ResponseReturnValue:
    """The form comes back as it was typed, with a token that works, to the one whose run it is."""
    run = owned((request.view_args or {})["run_id"])
    try:
        hop = _hop(run, request.form.get("hop", ""))
    except InvalidInput:
        return run_page(run, STALE), 400
    sent = BranchForm(request.form.get("question", ""), request.form.get("answerer", ""))
    return _page(run, hop, sent, InvalidInput(STALE, "question")), 400


def _hop(run: StoredRun, number: str) -> Hop:
    """The hop of that number. Raises InvalidInput where there is none such or the run goes on."""
    if not (number.isascii() and number.isdigit() and len(number) < 4):
        raise InvalidInput("Choose the hop to go on from.", "hop")
    return hop_to_change(run.report, int(number))


def branch_off(run: StoredRun, hop: Hop, sent: BranchForm, leave_out: bool, owner: str) -> str:
    """Start the run of `owner` that goes on from this hop, and return its id.

    `leave_out` asks nothing in the hop's place, whatever the question. Raises InvalidInput, which names the field.
    """
    question = None if leave_out else Question(clean_question(sent.question))
    answerer = {"answerer": sent.answerer} if sent.answerer else {}
    options = resolve_options({**raw_options(run.report.options), **answerer}, capabilities())
    if question is None:  # a hop that is left out still counts, and another is to be asked in its place
        options = replace(options, max_hops=min(options.max_hops + 1, MAX_HOPS))
    return services().runs.branch(run.id, hop.number, question, options, owner, sent.name, client())


def _page(run: StoredRun, hop: Hop, form: BranchForm, error: InvalidInput | None = None) -> str:
    answerers = capabilities().answerers
    return render_template("branch.html", run=run, hop=hop, form=form, error=error, answerers=answerers)


# Deleting a run, after one look back, and having it again for a while: for its owner alone.

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
        services().runs.deletion.delete(_own(run_id).id)
    return _to_history()


@deleting.post("/runs/<run_id>/restore")
def restore(run_id: str) -> ResponseReturnValue:
    """Give a deleted run back and lead to it. A second time changes nothing."""
    if not services().runs.deletion.restore(run_id, session.get("owner", "")) and not _found(run_id):
        return history_page(TOO_LATE), 404
    return redirect(url_for("pages.run", run_id=run_id), 303)


@when_stale(deleting)
def _deleting_stale(error: CSRFError) -> ResponseReturnValue:
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
    return any(each.id == run_id for each in services().runs.deletion.undoable(session.get("owner", "")))


def _own(run_id: str) -> RunSummary:
    """The run, if this browser started it. One that another version stored cannot be read, and yet be deleted."""
    with suppress(Unreadable):
        owned(run_id)
    return _found(run_id) or abort(404)


def _found(run_id: str) -> RunSummary | None:
    return services().runs.deletion.of_owner(run_id, session.get("owner", ""))
