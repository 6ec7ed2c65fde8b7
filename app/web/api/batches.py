"""The API's operations for batches: many claims sent at once, their progress and results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from werkzeug.exceptions import Conflict, NotFound

from app.batches import files, service
from app.domain.errors import InvalidInput
from app.run_request import CLAIM_FIELDS, resolve_options
from app.web import capabilities, services
from app.web.api.blueprint import operation, sent_key
from app.web.api.runs import REPEATED
from app.web.api.schemas import (
    INVALID,
    Batch,
    BatchList,
    BatchResults,
    BatchSummary,
    Limited,
    NewBatch,
    Nothing,
    ResultListing,
)
from app.web.auth import current_principal, owned_batch, principal_for_new_run, stored_batch
from app.web.pages.batches import CLOSED, COMMANDS, batch_title, details_of, most_claims


@operation("get /batches", "batches", owned=True)
def list_batches(query: Limited) -> BatchList:
    """List your batches, newest first."""
    return _list(services().batches.of_owner(current_principal(), query.limit))


@operation("post /batches", "batches", owned=True, status=201, errors=(404,), headers={"Idempotency-Key": REPEATED})
def start_batch(body: NewBatch) -> Batch:
    """Start a batch.

    Checks many claims, a few at a time, after the runs that single people start. A line that is no claim is kept with
    the reason; 422 where all are. 404 where the operator takes no batches.
    """
    principal = principal_for_new_run()
    if not most_claims():
        raise NotFound(CLOSED)
    fields = {name: value for name, value in body if value is not None}
    claims, title = fields.pop("claims"), fields.pop("title", "")
    if not isinstance(claims, list):
        raise InvalidInput(INVALID["claims"], "claims")
    read = (files.line_of(number, _claim_fields(each)) for number, each in enumerate(claims, 1))
    lines = files.check_lines(read, most_claims())
    options = resolve_options(fields, capabilities())
    return _batch(services().batches.start(lines, options, principal, batch_title(lines, title), sent_key()))


def _claim_fields(claim: Any) -> dict[str, str]:
    """Return the fields of one claim of a batch, which may be sent as plain text. Raises InvalidInput."""
    fields = {"claim": claim} if isinstance(claim, str) else claim
    is_object = isinstance(fields, dict) and "claim" in fields and set(fields) <= set(CLAIM_FIELDS)
    if not is_object or fields["claim"] is None or not all(isinstance(each, str | None) for each in fields.values()):
        raise InvalidInput(INVALID["claims"], "claims")
    return fields


@operation("get /batches/<batch_id>", "batches")
def read_batch(batch_id: str) -> Batch:
    """Read how far a batch is."""
    return _batch(batch_id)


@operation("delete /batches/<batch_id>", "batches", owned=True, status=204)
def delete_batch(batch_id: str) -> None:
    """Delete a batch.

    Cancels the batch if it has not ended and hides it and all its runs from everybody. Its owner can restore them
    together for ten minutes. Then they are purged.
    """
    owned_batch(batch_id)
    services().batches.delete(batch_id)


@operation("get /batches/<batch_id>/results", "batches")
def list_batch_results(batch_id: str, query: ResultListing) -> BatchResults:
    """Read the claims of a batch and the result of each, in order."""
    claims = services().batches.claims(stored_batch(batch_id).id, query.after, query.limit + 1)
    page = claims[: query.limit]
    results = tuple(files.result(each, details_of) for each in page)
    return BatchResults(results, page[-1].number if len(claims) > query.limit else None)


ABOUT = {
    "pause": "Pause a batch.\nStarts no more of its runs; those that have started come to their end. 409 unless it was "
    "going.",
    "resume": "Resume a paused batch.",
    "cancel": "Cancel a batch.\nStarts no more of its runs, for good, and ends those that are running. 409 for one "
    "that is over.",
    "retry": "Try again what failed.\nGives claims whose run failed or was interrupted a new one. 409 for none, or a "
    "cancelled batch.",
}
"""The summary and description of each command."""


def _add_command(command: str, about: str) -> None:
    def steer(batch_id: str, body: Nothing) -> Batch:
        owned_batch(batch_id)
        if not getattr(services().batches, command)(batch_id):
            raise Conflict(COMMANDS[command])
        services().batches.feed()
        return _batch(batch_id)

    details = {"name": f"{command}Batch", "about": about, "owned": True}
    operation(f"post /batches/<batch_id>/{command}", "batches", **details)(steer)


for _each in ABOUT.items():
    _add_command(*_each)


@operation("post /batches/<batch_id>/restore", "batches", owned=True)
def restore_batch(batch_id: str, body: Nothing) -> Batch:
    """Restore a deleted batch.

    Also restores the runs that were deleted with it. A batch that had not ended when it was deleted is cancelled. A
    second time changes nothing.
    """
    if not services().batches.restore(batch_id, current_principal()):
        owned_batch(batch_id)  # restoring a batch that was not deleted succeeds
    return _batch(batch_id)


@operation("get /deleted/batches", "batches", owned=True)
def list_deleted_batches() -> BatchList:
    """List the batches that can be restored, the last deleted first."""
    return _list(services().batches.restorable(current_principal()))


def _list(batches: Iterable[service.Batch]) -> BatchList:
    return BatchList(tuple(BatchSummary(each.id, each.title, each.state, each.created_at) for each in batches))


def _batch(batch_id: str) -> Batch:
    batch, progress = stored_batch(batch_id), services().batches.progress(batch_id)
    held_up = services().batches.held_up(batch_id)
    summary = (batch.id, batch.title, batch.state, batch.created_at)
    return Batch(*summary, progress.counts, progress.done, progress.total, held_up)
