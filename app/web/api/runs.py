"""The API's operations that start, list, read, follow, steer, import, delete and restore runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

from flask import Response, json, request
from werkzeug.exceptions import Conflict, NotFound

from app.domain.errors import InvalidInput
from app.domain.events import TERMINAL
from app.domain.messages import Code
from app.domain.ports import RunCommand
from app.run_request import RunRequest
from app.runs.event_store import Unreadable, in_words
from app.runs.service import Place, RunFilter, StoredEvent, StoredRun, hop_to_change
from app.runs.transfer import report_fields
from app.web import capabilities, services
from app.web.api.blueprint import TEXT, operation, sent_key
from app.web.api.schemas import Following, NewBranch, NewRun, Nothing, Run, RunList, RunListing
from app.web.auth import client, current_principal, owned, principal_for_new_run, stored_run
from app.web.observability import log_run
from app.web.pages.history import decode_cursor, encode_cursor
from app.web.pages.run_actions import ENDED, NOTHING_KEPT, BranchForm, branch_off
from app.web.sse import stream_run

REPEATED = "Any text. A repeated request with the same key returns the run or batch that the first one created."


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


def run_of(run: StoredRun) -> Run:
    """Return the exported run with its current state: queue position, pending request to conclude, publication."""
    return Run(
        **report_fields(run),
        place=None if run.report.ended else services().runs.place(run.id),
        concluding=run.command is RunCommand.FINISH_NOW,
        published_at=run.published_at,
        taken_down=run.taken_down_at is not None,
    )


def _created(run_id: str) -> Run:
    log_run(run_id)
    return run_of(stored_run(run_id))


@operation("get /runs", "runs", owned=True)
def list_runs(query: RunListing) -> RunList:
    """List your runs, newest first."""
    if query.answerer and query.answerer not in {each.name for each in capabilities().answerers}:
        raise InvalidInput("There is no answerer of that name.", "answerer")
    wanted = RunFilter(query.q, query.label or "", query.answerer)
    after = None if query.cursor is None else decode_cursor(query.cursor)
    found = services().runs.recent(current_principal(), query.limit + 1, after, wanted)
    page = found[: query.limit]
    return RunList(page, encode_cursor(page[-1].created_at, page[-1].id) if len(found) > query.limit else None)


@operation("post /runs", "runs", owned=True, status=201, headers={"Idempotency-Key": REPEATED})
def start_run(body: NewRun) -> Run:
    """Start a run.

    Omitted fields have the site's defaults. GET /choices lists the values and which host receives the claim.
    """
    principal = principal_for_new_run()
    wanted = RunRequest.resolve(body.model_dump(exclude_none=True), capabilities())
    return _created(services().runs.start(wanted.claim, wanted.options, principal, sent_key(), client()))


@operation("get /runs/<run_id>", "runs")
def read_run(run_id: str) -> Run:
    """Read a run as it is now."""
    return run_of(stored_run(run_id))


@operation("delete /runs/<run_id>", "runs", owned=True, status=204)
def delete_run(run_id: str) -> None:
    """Delete a run.

    Stops the run if it is running and hides it from everybody. Its owner can restore it for ten minutes. Then it is
    purged with its events, its notes and the cached replies that no other run used.
    """
    with suppress(Unreadable):  # a run that cannot be read can still be deleted
        owned(run_id)
    if not services().runs.deletion.of_owner(run_id, current_principal()):
        raise NotFound("There is no such run of yours.")
    services().runs.deletion.delete(run_id)


@operation(
    "get /runs/<run_id>/events",
    "runs",
    errors=(403,),
    content=("text/event-stream", TEXT),
    headers={"Last-Event-ID": "Overrides `after`; sent by an EventSource that reconnects."},
)
def follow_run(run_id: str, query: Following) -> Response:
    """Follow a run.

    Server-sent events, each as in the schema Message. A message without a name is one stored event (schema StoredEvent)
    whose id is its number; an event never changes, so one that arrives twice may be dropped. Messages named "place"
    have the place of a run that waits. Comments keep the connection open. The last message is named "end"; after a
    stream that closes without it, ask again with Last-Event-ID.
    """
    run = stored_run(run_id)
    return stream_run(run, EventMessages(run))


@operation("post /runs/<run_id>/stop", "runs", owned=True)
def stop_run(run_id: str, body: Nothing) -> Run:
    """Stop a run.

    Ends a run of yours at once. Finished hops are kept, the one under way is marked as interrupted.
    """
    owned(run_id)
    if not services().runs.interrupt(run_id, Code.STOPPED_BY_OWNER()):
        raise Conflict(ENDED)
    return run_of(stored_run(run_id))


@operation("post /runs/<run_id>/conclude", "runs", owned=True)
def conclude_run(run_id: str, body: Nothing) -> Run:
    """Conclude a run at its next step.

    Asks for a verdict from what a run of yours has kept; 409 while nothing has been kept.
    """
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        raise Conflict(NOTHING_KEPT)
    if not services().runs.conclude(run_id):
        raise Conflict(ENDED)
    return run_of(stored_run(run_id))


@operation("post /runs/<run_id>/branch", "runs", owned=True, status=201)
def branch_run(run_id: str, body: NewBranch) -> Run:
    """Continue from a hop.

    Starts a run that continues from a hop of a run of yours, which must have ended: with another question in the hop's
    place, or none, or another answerer from there on. The hops before it are kept; no model is called for them again.
    What came after it is not in the new run, and the earlier one stays as it is.
    """
    run = owned(run_id)
    hop = hop_to_change(run.report, body.hop)
    if body.leave_out and body.question is not None:
        raise InvalidInput("Ask a question in the hop's place, or leave the hop out; not both.", "leave_out")
    question = hop.question.text if body.question is None else body.question
    form = BranchForm(question, body.answerer or "")
    return _created(branch_off(run, hop, form, bool(body.leave_out), current_principal()))


@operation("get /runs/<run_id>/branches", "runs", owned=True)
def list_branches(run_id: str) -> RunList:
    """List the branches of a run, oldest first; all of them, so there is no next."""
    return RunList(services().runs.queries.branches(owned(run_id).id), None)


@operation("post /runs/<run_id>/restore", "runs", owned=True)
def restore_run(run_id: str, body: Nothing) -> Run:
    """Restore a deleted run. A second time changes nothing."""
    if not services().runs.deletion.restore(run_id, current_principal()):
        owned(run_id)  # raises NotFound, but for a run that is not deleted
    return run_of(stored_run(run_id))


@operation("get /deleted", "runs", owned=True)
def list_deleted_runs() -> RunList:
    """List the runs that can be restored, the last deleted first; all of them, so there is no next."""
    return RunList(services().runs.deletion.restorable(current_principal()), None)


@operation("post /import", "reports", owned=True, status=201, errors=(413, 415, 422), raw_body="Exported")
def import_report() -> Run:
    """Import a report.

    Keeps an exported report as a run of yours that is marked as imported: its check did not take place here.
    """
    return _created(services().runs.import_report(request.get_data(), principal_for_new_run()))
