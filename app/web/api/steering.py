"""What a run's owner does to it by the JSON API: stop it, have it conclude, go on from one of its hops."""

from __future__ import annotations

from flask import Response
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Conflict

from app.domain.errors import InvalidInput
from app.runs.branching import hop_to_change
from app.web.api.answers import made, told
from app.web.api.askers import asker, owned, stored_run
from app.web.api.blueprint import api_blueprint
from app.web.api.input import sent
from app.web.api.lists import told_list
from app.web.api.problems import API
from app.web.api.schemas import NewBranch, Nothing
from app.web.branching import BranchForm, branch_off
from app.web.current import hopcheck
from app.web.steering import ENDED, NOTHING_KEPT, STOPPED

api_steering = api_blueprint("api_steering")

GOES_ON = "This run still goes on; stop it first, or wait for its end."


@api_steering.post(f"{API}/runs/<run_id>/stop")
def stop(run_id: str) -> Response:
    """End the asker's run at once; what it has stands."""
    sent(Nothing)
    owned(run_id)
    if not hopcheck().runs.interrupt(run_id, STOPPED):
        raise Conflict(ENDED)
    return told(stored_run(run_id))


@api_steering.post(f"{API}/runs/<run_id>/conclude")
def conclude(run_id: str) -> Response:
    """Ask for a verdict from what the asker's run has kept."""
    sent(Nothing)
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        raise Conflict(NOTHING_KEPT)
    if not hopcheck().runs.conclude(run_id):
        raise Conflict(ENDED)
    return told(stored_run(run_id))


@api_steering.post(f"{API}/runs/<run_id>/branch")
def branch(run_id: str) -> ResponseReturnValue:
    """Start a run of the asker's that goes on from a hop of this one."""
    run, wish = owned(run_id), sent(NewBranch)
    if not run.report.ended:
        raise Conflict(GOES_ON)
    hop = hop_to_change(run.report, wish.hop)
    if wish.leave_out and wish.question is not None:
        raise InvalidInput("Ask a question in the hop's place, or leave the hop out; not both.", "leave_out")
    question = hop.question.text if wish.question is None else wish.question
    return made(branch_off(run, hop, BranchForm(question, wish.answerer or ""), bool(wish.leave_out), asker()))


@api_steering.get(f"{API}/runs/<run_id>/branches")
def branches(run_id: str) -> Response:
    """The runs that branch off the asker's run, oldest first."""
    return told_list(hopcheck().runs.branches(owned(run_id).id))
