"""API routes that start, list, read, follow, steer, import, delete and restore runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

from flask import Response, json, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Conflict, NotFound

from app.domain.errors import InvalidInput
from app.domain.events import TERMINAL
from app.domain.messages import Code
from app.runs.event_store import Unreadable, in_words
from app.runs.service import Place, StoredEvent, StoredRun, hop_to_change
from app.web import services
from app.web.api.blueprint import (
    API,
    api_blueprint,
    check_after,
    created_run,
    list_filters,
    list_response,
    paginated_response,
    run_response,
    sent,
    sent_cursor,
    sent_key,
    sent_limit,
    sent_run,
)
from app.web.api.schemas import NewBranch, Nothing
from app.web.auth import client, current_principal, owned, principal_for_new_run, stored_run
from app.web.pages.run_actions import ENDED, NOTHING_KEPT, BranchForm, branch_off
from app.web.sse import stream_run


class EventMessages:
    """The sse.Renderer for programs: stored events as JSON.

    Each message without a name is one stored event: its `id:` is the event's number, its data the event with `seq`,
    `seconds` and `kind`. Messages named "place" contain a waiting run's position in the queue and have no id. The last
    message is named "end".
    """

    def __init__(self, run: StoredRun) -> None:
        self.ended = bool(run.report.ended)
        self._place: Place | None = None

    def render(self, events: Sequence[StoredEvent]) -> str:
        """Return one message for each event, as it is stored, after a null place if the run was waiting."""
        self.ended = self.ended or isinstance(events[-1].event, TERMINAL)
        messages = (f"id: {stored.seq}\ndata: {json.dumps(event_as_dict(stored))}\n\n" for stored in events)
        return self.render_place(None) + "".join(messages)  # a run with new events is not waiting

    def render_place(self, place: Place | None) -> str:
        """Return the place in the queue when it has changed; null once the run no longer waits."""
        if place == self._place:
            return ""
        self._place = place
        return f"event: place\ndata: {json.dumps(asdict(place) if place else None)}\n\n"


def event_as_dict(stored: StoredEvent) -> dict:
    """Return the event as JSON types, with its number and the seconds since the run's start."""
    return {"seq": stored.seq, "seconds": round(stored.seconds, 3), **in_words(stored.event)}


api_runs = api_blueprint("api_runs")


@api_runs.post(f"{API}/runs")
def start() -> ResponseReturnValue:
    """Start a run. The same request with the same Idempotency-Key returns the run that was started first."""
    principal = principal_for_new_run()
    wanted = sent_run()
    return created_run(services().runs.start(wanted.claim, wanted.options, principal, sent_key(), client()))


@api_runs.get(f"{API}/runs")
def list_runs() -> Response:
    """List the principal's runs that match the filters, newest first."""
    limit = sent_limit()
    return paginated_response(
        services().runs.recent(current_principal(), limit + 1, sent_cursor(), list_filters()), limit
    )


@api_runs.get(f"{API}/runs/<run_id>")
def read(run_id: str) -> Response:
    """Return a run to anybody who has its id."""
    return run_response(stored_run(run_id))


@api_runs.get(f"{API}/runs/<run_id>/events")
def follow(run_id: str) -> Response:
    """Stream a run's stored and new events."""
    check_after()
    run = stored_run(run_id)
    return stream_run(run, EventMessages(run))


api_steering = api_blueprint("api_steering")

STILL_RUNNING = "This run is still running; stop it first, or wait for its end."


@api_steering.post(f"{API}/runs/<run_id>/stop")
def stop(run_id: str) -> Response:
    """Stop the principal's run; its finished hops are kept."""
    sent(Nothing)
    owned(run_id)
    if not services().runs.interrupt(run_id, Code.STOPPED_BY_OWNER()):
        raise Conflict(ENDED)
    return run_response(stored_run(run_id))


@api_steering.post(f"{API}/runs/<run_id>/conclude")
def conclude(run_id: str) -> Response:
    """Request a verdict from the pairs that the principal's run has kept."""
    sent(Nothing)
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        raise Conflict(NOTHING_KEPT)
    if not services().runs.conclude(run_id):
        raise Conflict(ENDED)
    return run_response(stored_run(run_id))


@api_steering.post(f"{API}/runs/<run_id>/branch")
def branch(run_id: str) -> ResponseReturnValue:
    """Start a run of the principal that continues from a hop of this one."""
    run, body = owned(run_id), sent(NewBranch)
    if not run.report.ended:
        raise Conflict(STILL_RUNNING)
    hop = hop_to_change(run.report, body.hop)
    if body.leave_out and body.question is not None:
        raise InvalidInput("Ask a question in the hop's place, or leave the hop out; not both.", "leave_out")
    question = hop.question.text if body.question is None else body.question
    return created_run(
        branch_off(run, hop, BranchForm(question, body.answerer or ""), bool(body.leave_out), current_principal())
    )


@api_steering.get(f"{API}/runs/<run_id>/branches")
def branches(run_id: str) -> Response:
    """List the runs that branch off the principal's run, oldest first."""
    return list_response(services().runs.queries.branches(owned(run_id).id))


api_keeping = api_blueprint("api_keeping")


@api_keeping.post(f"{API}/import")
def import_report() -> ResponseReturnValue:
    """Store an exported report as a run of the principal, marked as imported."""
    principal = principal_for_new_run()
    return created_run(services().runs.import_report(request.get_data(), principal))


@api_keeping.delete(f"{API}/runs/<run_id>")
def delete(run_id: str) -> ResponseReturnValue:
    """Delete the principal's run, stopping it first where it is running."""
    with suppress(Unreadable):  # a run that cannot be read can still be deleted
        owned(run_id)
    if not services().runs.deletion.of_owner(run_id, current_principal()):
        raise NotFound("There is no such run of yours.")
    services().runs.deletion.delete(run_id)
    return "", 204


@api_keeping.get(f"{API}/deleted")
def deleted() -> Response:
    """List the principal's deleted runs that can still be restored."""
    return list_response(services().runs.deletion.restorable(current_principal()))


@api_keeping.post(f"{API}/runs/<run_id>/restore")
def restore(run_id: str) -> Response:
    """Restore the principal's deleted run."""
    sent(Nothing)
    if not services().runs.deletion.restore(run_id, current_principal()):
        owned(run_id)  # raises NotFound, but for a run that is not deleted
    return run_response(stored_run(run_id))
