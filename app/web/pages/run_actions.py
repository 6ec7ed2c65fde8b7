"""Actions of a run's owner: stop, conclude, branch, delete and restore.

Only the browser that started a run sees these; others get a 404. With JavaScript a steering button replaces only its
own place on the page and the stream updates the rest; without, it redirects to the run's page.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from app.capabilities.options import source_of
from app.domain.errors import InvalidInput
from app.domain.messages import Code
from app.domain.model import RANGES, Hop, Question
from app.run_request import raw_options, resolve_options
from app.runs.lifecycle import UNDO_SECONDS
from app.runs.service import RunSummary, StoredRun, Unreadable, hop_to_change
from app.text.claims import clean_question
from app.web import capabilities, services
from app.web.auth import client, owned, stored_run
from app.web.forms import SET_BY_SOURCE
from app.web.observability import log_run
from app.web.pages.history import history_page
from app.web.run_view import may_steer, run_page
from app.web.security import owner

steering = Blueprint("steering", __name__)
steering.add_app_template_global(may_steer)

ENDED = "This check had ended already, so nothing was changed."
NOTHING_KEPT = "Nothing has been kept yet to base a verdict on. Wait for an answer, or stop the check."


@steering.post("/runs/<run_id>/stop")
def stop(run_id: str) -> ResponseReturnValue:
    """Stop the run at once; finished hops are kept, the current one is marked as interrupted."""
    owned(run_id)
    stopped = services().runs.interrupt(run_id, Code.STOPPED_BY_OWNER())
    return _done(run_id) if stopped else _with_notice(run_id, ENDED, 409)


@steering.post("/runs/<run_id>/conclude")
def conclude(run_id: str) -> ResponseReturnValue:
    """Request a verdict from the kept pairs.

    The current hop is abandoned, unless its answer is being judged or, in an evidence pursuit, being found.
    """
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        return _with_notice(run_id, NOTHING_KEPT, 409)
    return _done(run_id) if services().runs.conclude(run_id) else _with_notice(run_id, ENDED, 409)


def _done(run_id: str) -> ResponseReturnValue:
    return _buttons(run_id) if is_htmx_request() else redirect(url_for("pages.run", run_id=run_id), 303)


def _with_notice(run_id: str, notice: str, code: int) -> ResponseReturnValue:
    """Return the run's page with the notice; for htmx, which ignores error pages, the buttons with the notice."""
    if is_htmx_request():
        return _buttons(run_id, notice)
    run = stored_run(run_id)
    return run_page(run, notice), code


def _buttons(run_id: str, notice: str = "") -> str:
    run = stored_run(run_id)
    return render_template("steered.html", run=run, notice=notice)


def is_htmx_request() -> bool:
    """Return whether the page's script sent the request, which then replaces only a part of the page."""
    return "HX-Request" in request.headers


branching = Blueprint("branching", __name__)


@dataclass(frozen=True)
class BranchForm:
    """The branch form as typed."""

    question: str
    answerer: str = ""  # "" keeps the run's own
    source: str = ""  # "" keeps the run's own
    name: str = ""  # random, so that submitting twice starts one run


@branching.get("/runs/<run_id>/branch")
def form(run_id: str) -> ResponseReturnValue:
    """Show the form for a hop (`?hop=2`)."""
    run = owned(run_id)
    try:
        hop = _hop(run, request.args.get("hop", ""))
    except InvalidInput as error:
        return run_page(run, str(error)), 404
    options = run.report.options
    return _branch_page(run, hop, BranchForm(hop.question.text, options.answerer, source_of(options)))


@branching.post("/runs/<run_id>/branch")
def branch(run_id: str) -> ResponseReturnValue:
    """Start the branch and redirect to its page."""
    run = owned(run_id)
    try:
        hop = _hop(run, request.form.get("hop", ""))
    except InvalidInput as error:
        return run_page(run, str(error)), 409
    sent = _sent_branch()
    try:
        child = branch_off(run, hop, sent, "leave_out" in request.form, owner())
    except InvalidInput as error:
        return _branch_page(run, hop, sent, error), 422
    log_run(child)
    return redirect(url_for("pages.run", run_id=child), 303)


def _sent_branch() -> BranchForm:
    return BranchForm(*(request.form.get(name, "") for name in ("question", "answerer", "source", "form_name")))


def _hop(run: StoredRun, number: str) -> Hop:
    """Return the hop of that number. Raises InvalidInput for an unknown hop, a running run and an imported report."""
    if not (number.isascii() and number.isdigit() and len(number) < 4):
        raise InvalidInput("Choose the step to continue from.", "hop")
    return hop_to_change(run.report, int(number))


def branch_off(run: StoredRun, hop: Hop, sent: BranchForm, leave_out: bool, owner: str) -> str:
    """Start a run of `owner` that continues from this hop, and return its id.

    With `leave_out` the hop is dropped and the question ignored. Raises InvalidInput, which names the field.
    """
    question = None if leave_out else Question(clean_question(sent.question))
    before = run.report.options
    raw = raw_options(before)
    if sent.source and sent.source != source_of(before):
        raw = {name: value for name, value in raw.items() if name not in SET_BY_SOURCE} | {"source": sent.source}
    if sent.answerer and sent.answerer != before.answerer:
        raw["answerer"] = sent.answerer
    options = resolve_options(raw, capabilities())
    if hop.number > RANGES["max_hops"].maximum:
        raise InvalidInput(f"A check has at most {RANGES['max_hops'].maximum} questions.", "question")
    if question is None or hop.number > options.max_hops:  # the dropped or added hop counts towards the limit
        options = replace(options, max_hops=min(options.max_hops + 1, RANGES["max_hops"].maximum))
    return services().runs.branch(run.id, hop.number, question, options, owner, sent.name, client())


def _branch_page(run: StoredRun, hop: Hop, form: BranchForm, error: InvalidInput | None = None) -> str:
    usable = [each for each in capabilities().sources if each.available] if source_of(run.report.options) else []
    answerers = capabilities().answerers
    return render_template("branch.html", run=run, hop=hop, form=form, error=error, answerers=answerers, sources=usable)


deleting = Blueprint("deleting", __name__)

TOO_LATE = "There is nothing to undo: that check is gone for good, or it was never one of this browser's."


@deleting.get("/runs/<run_id>/delete")
def confirm(run_id: str) -> ResponseReturnValue:
    """Ask for confirmation; a deleted run redirects to the history, where it can be restored."""
    return _to_history() if _is_deleted(run_id) else render_template("delete.html", run=_owned_summary(run_id))


@deleting.post("/runs/<run_id>/delete")
def delete(run_id: str) -> ResponseReturnValue:
    """Delete the run, stopping it first where it is running, and redirect to the history. Idempotent."""
    if not _is_deleted(run_id):
        services().runs.deletion.delete(_owned_summary(run_id).id)
    return _to_history()


@deleting.post("/runs/<run_id>/restore")
def restore(run_id: str) -> ResponseReturnValue:
    """Restore a deleted run and redirect to it. Idempotent."""
    if not services().runs.deletion.restore(run_id, session.get("owner", "")) and not _summary(run_id):
        return history_page(TOO_LATE), 404
    return redirect(url_for("pages.run", run_id=run_id), 303)


@deleting.app_template_global("undo_minutes")
def undo_minutes() -> int:
    """Return the minutes for which a deleted run can be restored."""
    return round(UNDO_SECONDS / 60)


def _to_history() -> ResponseReturnValue:
    return redirect(url_for("history.page"), 303)


def _is_deleted(run_id: str) -> bool:
    return any(each.id == run_id for each in services().runs.deletion.restorable(session.get("owner", "")))


def _owned_summary(run_id: str) -> RunSummary:
    """Return the run's summary if this browser started it. An unreadable run can still be deleted."""
    with suppress(Unreadable):
        owned(run_id)  # logs the refusal of another browser, which _summary would not
    return _summary(run_id) or abort(404)


def _summary(run_id: str) -> RunSummary | None:
    return services().runs.deletion.of_owner(run_id, session.get("owner", ""))
