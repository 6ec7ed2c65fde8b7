"""API routes for batches: many claims sent at once, their progress and results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Response, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Conflict, NotFound

from app.batches.files import result
from app.batches.service import Batch
from app.domain.errors import InvalidInput
from app.runs.json_schema import as_json
from app.web import services
from app.web.api import schemas
from app.web.api.auth import current_principal, principal_for_new_run
from app.web.api.blueprint import API, api_blueprint, sent, sent_batch, sent_key, sent_limit
from app.web.api.schemas import BatchList, BatchResults, BatchSummary, Nothing
from app.web.observability import log_refusal
from app.web.pages.batches import CLOSED, NOT_NOW, NOTHING_FAILED, most_claims, permalink

api_batches = api_blueprint("api_batches")


@api_batches.post(f"{API}/batches")
def start() -> ResponseReturnValue:
    """Start a batch. The same request with the same Idempotency-Key returns the batch that was started first."""
    principal = principal_for_new_run()
    if not most_claims():
        raise NotFound(CLOSED)
    lines, options, title = sent_batch()
    batch = _stored(services().runs.start_batch(lines, options, principal, title, sent_key()))
    return jsonify(_as_dict(batch)), 201, {"Location": url_for("api_batches.read", batch_id=batch.id)}


@api_batches.get(f"{API}/batches")
def listing() -> Response:
    """List the principal's newest batches, newest first."""
    return _list_response(services().runs.batches.of_owner(current_principal(), sent_limit()))


@api_batches.get(f"{API}/batches/<batch_id>")
def read(batch_id: str) -> Response:
    """Return a batch's progress to anybody who has its id."""
    return jsonify(_as_dict(_stored(batch_id)))


@api_batches.get(f"{API}/batches/<batch_id>/results")
def results(batch_id: str) -> Response:
    """List the results of its claims, to anybody who has its id."""
    batch, after, limit = _stored(batch_id), _sent_after(), sent_limit()
    found = services().runs.batches.claims(batch.id, after, limit + 1)
    page = found[:limit]
    following = page[-1].number if len(found) > limit else None
    return jsonify(as_json(BatchResults(tuple(result(each, permalink) for each in page), following)))


@api_batches.post(f"{API}/batches/<batch_id>/pause")
def pause(batch_id: str) -> Response:
    """Start no more of its runs until it is resumed."""
    return _done(_owned(batch_id), services().runs.batch_commands.pause(batch_id))


@api_batches.post(f"{API}/batches/<batch_id>/resume")
def resume(batch_id: str) -> Response:
    """Continue a paused batch."""
    return _done(_owned(batch_id), services().runs.batch_commands.resume(batch_id))


@api_batches.post(f"{API}/batches/<batch_id>/cancel")
def cancel(batch_id: str) -> Response:
    """Start no more of its runs, and stop those that are running."""
    return _done(_owned(batch_id), services().runs.batch_commands.cancel(batch_id))


@api_batches.post(f"{API}/batches/<batch_id>/retry")
def retry(batch_id: str) -> Response:
    """Check the failed claims again."""
    return _done(_owned(batch_id), services().runs.batch_commands.retry(batch_id) > 0, NOTHING_FAILED)


@api_batches.delete(f"{API}/batches/<batch_id>")
def delete(batch_id: str) -> ResponseReturnValue:
    """Delete the principal's batch with all its runs, cancelling it first where it is running."""
    services().runs.batch_deletion.delete(_owned(batch_id).id)
    return "", 204


@api_batches.get(f"{API}/deleted/batches")
def deleted() -> Response:
    """List the principal's deleted batches that can still be restored."""
    return _list_response(services().runs.batch_deletion.restorable(current_principal()))


@api_batches.post(f"{API}/batches/<batch_id>/restore")
def restore(batch_id: str) -> Response:
    """Restore the principal's deleted batch."""
    sent(Nothing)
    if not services().runs.batch_deletion.restore(batch_id, current_principal()):
        _owned(batch_id)  # it was not deleted, or does not exist
    return jsonify(_as_dict(_stored(batch_id)))


def _stored(batch_id: str) -> Batch:
    batch = services().runs.batches.get(batch_id)
    if batch is None:
        raise NotFound("There is no such batch.")
    return batch


def _owned(batch_id: str) -> Batch:
    """Return the batch if the principal owns it. Raises NotFound otherwise, and InvalidInput for a request body."""
    principal, batch = current_principal(), services().runs.batches.get(batch_id)
    if batch is None or batch.owner != principal:
        if batch is not None:
            log_refusal("owner")
        raise NotFound("There is no such batch of yours.")
    sent(Nothing)
    return batch


def _done(batch: Batch, changed: bool, otherwise: str = NOT_NOW) -> Response:
    if not changed:
        raise Conflict(otherwise)
    services().runs.feeder.feed()
    return jsonify(_as_dict(_stored(batch.id)))


def _list_response(batches: Iterable[Batch]) -> Response:
    found = (BatchSummary(each.id, each.title, each.state, each.created_at) for each in batches)
    return jsonify(as_json(BatchList(tuple(found))))


def _as_dict(batch: Batch) -> dict[str, Any]:
    progress, held_up = services().runs.batches.progress(batch.id), services().runs.feeder.held_up()
    summary = (batch.id, batch.title, batch.state, batch.created_at)
    return as_json(schemas.Batch(*summary, progress.counts, progress.done, progress.total, held_up))


def _sent_after() -> int:
    text = request.args.get("after", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise InvalidInput("after must be the number of a claim.", "after")
    return int(text)
