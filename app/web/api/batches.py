"""Batches by the JSON API: many claims sent at once, their progress and results, and what their owner does to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Response, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Conflict, NotFound

from app.domain.errors import InvalidInput
from app.runs.batch_results import result
from app.runs.batches import Batch
from app.runs.json_schema import as_json
from app.web.api import schemas
from app.web.api.askers import asker, starter
from app.web.api.blueprint import api_blueprint
from app.web.api.input import sent, sent_batch, sent_key
from app.web.api.lists import sent_limit
from app.web.api.problems import API
from app.web.api.schemas import BatchList, BatchResults, BatchSummary, Nothing
from app.web.audit import refused
from app.web.batches import CLOSED, NOT_NOW, NOTHING_FAILED, most_claims, permalink
from app.web.current import hopcheck

api_batches = api_blueprint("api_batches")


@api_batches.post(f"{API}/batches")
def start() -> ResponseReturnValue:
    """Start a batch; the same request with the same Idempotency-Key leads to the batch that it has started already."""
    who = starter()
    if not most_claims():
        raise NotFound(CLOSED)
    lines, options, title = sent_batch()
    batch = _stored(hopcheck().runs.start_batch(lines, options, who, title, sent_key()))
    return jsonify(_told(batch)), 201, {"Location": url_for("api_batches.read", batch_id=batch.id)}


@api_batches.get(f"{API}/batches")
def listing() -> Response:
    """The asker's newest batches, newest first."""
    return _listed(hopcheck().runs.batches.of_owner(asker(), sent_limit()))


@api_batches.get(f"{API}/batches/<batch_id>")
def read(batch_id: str) -> Response:
    """How far a batch is, for whoever has its id."""
    return jsonify(_told(_stored(batch_id)))


@api_batches.get(f"{API}/batches/<batch_id>/results")
def results(batch_id: str) -> Response:
    """What came of its claims, some at a time, for whoever has its id."""
    batch, after, limit = _stored(batch_id), _sent_after(), sent_limit()
    found = hopcheck().runs.batches.claims(batch.id, after, limit + 1)
    page = found[:limit]
    following = page[-1].number if len(found) > limit else None
    return jsonify(as_json(BatchResults(tuple(result(each, permalink) for each in page), following)))


@api_batches.post(f"{API}/batches/<batch_id>/pause")
def pause(batch_id: str) -> Response:
    """Begin no more of its runs."""
    return _done(_owned(batch_id), hopcheck().runs.batch_steering.pause(batch_id))


@api_batches.post(f"{API}/batches/<batch_id>/resume")
def resume(batch_id: str) -> Response:
    """Go on with what was paused."""
    return _done(_owned(batch_id), hopcheck().runs.batch_steering.resume(batch_id))


@api_batches.post(f"{API}/batches/<batch_id>/cancel")
def cancel(batch_id: str) -> Response:
    """Begin no more of its runs, for good, and end those that go on."""
    return _done(_owned(batch_id), hopcheck().runs.batch_steering.cancel(batch_id))


@api_batches.post(f"{API}/batches/<batch_id>/retry")
def retry(batch_id: str) -> Response:
    """Check again what has failed."""
    return _done(_owned(batch_id), hopcheck().runs.batch_steering.retry(batch_id) > 0, NOTHING_FAILED)


@api_batches.delete(f"{API}/batches/<batch_id>")
def delete(batch_id: str) -> ResponseReturnValue:
    """Delete the asker's batch with all its runs, cancelling it first where it goes on."""
    hopcheck().runs.batch_deletion.delete(_owned(batch_id).id)
    return "", 204


@api_batches.get(f"{API}/deleted/batches")
def deleted() -> Response:
    """The asker's batches that were deleted and can still be had back."""
    return _listed(hopcheck().runs.batch_deletion.undoable(asker()))


@api_batches.post(f"{API}/batches/<batch_id>/restore")
def restore(batch_id: str) -> Response:
    """Give the asker's deleted batch back."""
    sent(Nothing)
    if not hopcheck().runs.batch_deletion.restore(batch_id, asker()):
        _owned(batch_id)  # is there already, or there is nothing
    return jsonify(_told(_stored(batch_id)))


def _stored(batch_id: str) -> Batch:
    batch = hopcheck().runs.batches.get(batch_id)
    if batch is None:
        raise NotFound("There is no such batch.")
    return batch


def _owned(batch_id: str) -> Batch:
    """The batch, if it is the asker's and nothing is sent along; for everybody else there is nothing here."""
    who, batch = asker(), hopcheck().runs.batches.get(batch_id)
    if batch is None or batch.owner != who:
        if batch is not None:
            refused("owner")
        raise NotFound("There is no such batch of yours.")
    sent(Nothing)
    return batch


def _done(batch: Batch, changed: bool, otherwise: str = NOT_NOW) -> Response:
    if not changed:
        raise Conflict(otherwise)
    hopcheck().runs.feeder.feed()
    return jsonify(_told(_stored(batch.id)))


def _listed(batches: Iterable[Batch]) -> Response:
    found = (BatchSummary(each.id, each.title, each.state, each.created_at) for each in batches)
    return jsonify(as_json(BatchList(tuple(found))))


def _told(batch: Batch) -> dict[str, Any]:
    progress, held_up = hopcheck().runs.batches.progress(batch.id), hopcheck().runs.feeder.held_up()
    summary = (batch.id, batch.title, batch.state, batch.created_at)
    return as_json(schemas.Batch(*summary, progress.counts, progress.done, progress.total, held_up))


def _sent_after() -> int:
    text = request.args.get("after", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise InvalidInput("after must be the number of a claim.", "after")
    return int(text)
