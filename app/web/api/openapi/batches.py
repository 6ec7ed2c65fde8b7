"""The operations of the OpenAPI document for batches of claims."""

from __future__ import annotations

from app.runs.deletion import UNDO_SECONDS
from app.web.api.openapi.parts import AT_MOST, ONCE, STEERED, Operation, PathItem, in_query, operation, told
from app.web.api.schemas.parts import COUNT, text

BATCH_ID = {"name": "batch_id", "in": "path", "required": True, "schema": text(), "description": "The batch's id."}


def batch_paths() -> dict[str, PathItem]:
    """The addresses below the API's own, and what can be asked there."""
    pause = "Begins no more of its runs; those that have begun come to their end. 409 unless it was going."
    cancel = "Begins no more of its runs, for good, and ends those that go on. 409 for one that is over."
    retry = "Gives a new run to each claim whose run failed or was interrupted. 409 where there is none."
    return {
        "/batches": {"get": _list(), "post": _start()},
        "/batches/{batch_id}": _of_a_batch(get=_read(), delete=_delete()),
        "/batches/{batch_id}/results": _of_a_batch(get=_results()),
        "/batches/{batch_id}/pause": _of_a_batch(post=_steered("pauseBatch", "Pause a batch", pause)),
        "/batches/{batch_id}/resume": _of_a_batch(post=_steered("resumeBatch", "Go on with a paused batch", "")),
        "/batches/{batch_id}/cancel": _of_a_batch(post=_steered("cancelBatch", "Cancel a batch", cancel)),
        "/batches/{batch_id}/retry": _of_a_batch(post=_steered("retryBatch", "Try again what failed", retry)),
        "/batches/{batch_id}/restore": _of_a_batch(post=_restore()),
        "/deleted/batches": {"get": _deleted()},
    }


def _of_a_batch(**methods: Operation) -> PathItem:
    return {"parameters": [BATCH_ID], **methods}


def _start() -> Operation:
    about = (
        "Checks many claims, a few at a time, behind the runs that single people start. A claim that is none is kept "
        "with the reason; 422 where all are. 404 where the operator takes no batches."
    )
    answers = {201: {**told("The new batch.", "Batch"), "headers": {"Location": {"schema": text()}}}}
    problems = (400, 401, 404, 413, 415, 422, 429, 503)
    return operation(
        "startBatch", "Start a batch", answers, about, problems, body="NewBatch", owned=True, parameters=(ONCE,)
    )


def _list() -> Operation:
    answers = {200: told("The batches, newest first.", "BatchList")}
    problems = (401, 422, 503)
    return operation("listBatches", "List your batches", answers, "", problems, owned=True, parameters=(AT_MOST,))


def _read() -> Operation:
    return operation("readBatch", "Read how far a batch is", {200: told("The batch.", "Batch")}, problems=(404, 503))


def _results() -> Operation:
    parameters = (
        AT_MOST,
        in_query("after", {**COUNT, "maximum": 9_999_999}, "The next of the answer before."),
    )
    answers = {200: told("The claims and what came of each, in order.", "BatchResults")}
    return operation("batchResults", "Read the results of a batch", answers, "", (404, 422, 503), parameters=parameters)


def _delete() -> Operation:
    about = (
        "It is cancelled first where it is not over, and all its runs are deleted with it: gone for everybody at once. "
        f"For {UNDO_SECONDS / 60:.0f} minutes its owner can have them back together; then they go for good."
    )
    gone = {204: {"description": "It is gone."}}
    return operation("deleteBatch", "Delete a batch", gone, about, (401, 404, 503), owned=True)


def _restore() -> Operation:
    about = "With the runs that went with it. One that was not over is cancelled. A second time changes nothing."
    answers = {200: told("The batch, which is there again.", "Batch")}
    return operation("restoreBatch", "Have a deleted batch back", answers, about, STEERED, body="Nothing", owned=True)


def _deleted() -> Operation:
    answers = {200: told("The batches, the last deleted first.", "BatchList")}
    return operation(
        "deletedBatches", "List the batches that can be had back", answers, problems=(401, 503), owned=True
    )


def _steered(name: str, summary: str, about: str) -> Operation:
    answers = {200: told("The batch.", "Batch")}
    return operation(name, summary, answers, about, STEERED, body="Nothing", owned=True)
