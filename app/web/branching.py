"""Going on from a run that has ended: another question in a hop's place, or none, or another answerer from there on.

Only the browser that started a run branches it. The new run is one of its own, and leads back to the first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from app.config.settings import MOST_HOPS
from app.domain.errors import InvalidInput
from app.domain.model import Hop, Question
from app.run_request import raw_options, resolve_options
from app.runs.branching import hop_to_change
from app.runs.service import RunSummary, StoredRun
from app.text.claims import clean_question
from app.web.access_log import about_run
from app.web.api.askers import client
from app.web.current import capabilities, hopcheck
from app.web.pages import run_page
from app.web.security import owner
from app.web.stale import STALE, when_stale
from app.web.steering import may_steer, owned

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
    return hopcheck().runs.branches(run.id) if may_steer(run) else ()


@when_stale(branching)
def _stale(error: CSRFError) -> ResponseReturnValue:
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
        options = replace(options, max_hops=min(options.max_hops + 1, MOST_HOPS))
    return hopcheck().runs.branch(run.id, hop.number, question, options, owner, sent.name, client())


def _page(run: StoredRun, hop: Hop, form: BranchForm, error: InvalidInput | None = None) -> str:
    answerers = capabilities().answerers
    return render_template("branch.html", run=run, hop=hop, form=form, error=error, answerers=answerers)
