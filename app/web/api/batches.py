"""API routes for batches: many claims sent at once, their progress and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from app.web.api.blueprint import API, api_blueprint, sent, sent_batch, sent_key, sent_limit
from app.web.auth import current_principal, principal_for_new_run
from app.web.observability import log_refusal
from app.web.pages.batches import CLOSED, NOT_NOW, NOTHING_FAILED, details_of, most_claims

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
    """List the results of a batch's claims to anybody who has its id."""
    batch, after, limit = _stored(batch_id), _sent_after(), sent_limit()
    claims = services().runs.batches.claims(batch.id, after, limit + 1)
    page = claims[:limit]
    next_after = page[-1].number if len(claims) > limit else None
    return jsonify(as_json(schemas.BatchResults(tuple(result(each, details_of) for each in page), next_after)))


@api_batches.post(f"{API}/batches/<batch_id>/pause")
def pause(batch_id: str) -> Response:
    """Pause the principal's batch: no more of its claims get a run until it is resumed. Queued runs continue."""
    return _change(batch_id, services().runs.batch_commands.pause)


@api_batches.post(f"{API}/batches/<batch_id>/resume")
def resume(batch_id: str) -> Response:
    """Continue the principal's paused batch."""
    return _change(batch_id, services().runs.batch_commands.resume)


@api_batches.post(f"{API}/batches/<batch_id>/cancel")
def cancel(batch_id: str) -> Response:
    """Cancel the principal's batch: its waiting runs are not started, and those that are running are stopped."""
    return _change(batch_id, services().runs.batch_commands.cancel)


@api_batches.post(f"{API}/batches/<batch_id>/retry")
def retry(batch_id: str) -> Response:
    """Check the failed claims of the principal's batch again."""
    return _change(batch_id, services().runs.batch_commands.retry, NOTHING_FAILED)


@api_batches.delete(f"{API}/batches/<batch_id>")
def delete(batch_id: str) -> ResponseReturnValue:
    """Delete the principal's batch with all its runs, cancelling it first where it has not ended."""
    _check_owned(batch_id)
    services().runs.batch_deletion.delete(batch_id)
    return "", 204


@api_batches.get(f"{API}/deleted/batches")
def deleted() -> Response:
    """List the principal's deleted batches that can still be restored."""
    return _list_response(services().runs.batch_deletion.restorable(current_principal()))


@api_batches.post(f"{API}/batches/<batch_id>/restore")
def restore(batch_id: str) -> Response:
    """Restore the principal's deleted batch."""
    sent(schemas.Nothing)
    if not services().runs.batch_deletion.restore(batch_id, current_principal()):
        _check_owned(batch_id)  # restoring a batch that was not deleted succeeds
    return jsonify(_as_dict(_stored(batch_id)))


def _stored(batch_id: str) -> Batch:
    batch = services().runs.batches.get(batch_id)
    if batch is None:
        raise NotFound("There is no such batch.")
    return batch


def _check_owned(batch_id: str) -> None:
    """Raise NotFound unless the principal owns the batch."""
    principal, batch = current_principal(), services().runs.batches.get(batch_id)
    if batch is None or batch.owner != principal:
        if batch is not None:
            log_refusal("owner")
        raise NotFound("There is no such batch of yours.")


def _change(batch_id: str, command: Callable[[str], int], conflict: str = NOT_NOW) -> Response:
    """Run a command of the principal's batch and return its progress. Raises Conflict if nothing was changed."""
    _check_owned(batch_id)
    sent(schemas.Nothing)
    if not command(batch_id):
        raise Conflict(conflict)
    services().runs.feeder.feed()
    return jsonify(_as_dict(_stored(batch_id)))


def _list_response(batches: Iterable[Batch]) -> Response:
    summaries = (schemas.BatchSummary(each.id, each.title, each.state, each.created_at) for each in batches)
    return jsonify(as_json(schemas.BatchList(tuple(summaries))))


def _as_dict(batch: Batch) -> dict[str, Any]:
    progress, held_up = services().runs.batches.progress(batch.id), services().runs.feeder.held_up(batch.id)
    summary = (batch.id, batch.title, batch.state, batch.created_at)
    return as_json(schemas.Batch(*summary, progress.counts, progress.done, progress.total, held_up))


def _sent_after() -> int:
    text = request.args.get("after", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(schemas.MAX_CLAIM_NUMBER))):
        raise InvalidInput("after must be the number of a claim.", "after")
    return int(text)
