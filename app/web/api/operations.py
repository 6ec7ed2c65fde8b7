"""The operations of the JSON API as a table: their parameters, responses and errors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from http import HTTPStatus
from typing import Any

from app.domain.comparison import MAX_RUNS, MIN_RUNS
from app.domain.model import Label
from app.runs.lifecycle import UNDO_SECONDS
from app.web.api.blueprint import LIMIT_SCHEMA
from app.web.api.schemas import MAX_CLAIM_NUMBER
from app.web.exporters import Exporter, ExportOperation, exporters
from app.web.pages.history import MAX_SEARCH, OUTCOMES

Schema = dict[str, Any]

REF = "#/components/schemas/{model}"
TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
CLAIM_NUMBER: Schema = {**COUNT, "maximum": MAX_CLAIM_NUMBER}
UNDO_MINUTES = f"{UNDO_SECONDS / 60:.0f} minutes"

STREAM = (
    "Server-sent events. A message without a name is one stored event (schema StoredEvent) whose id is its number; "
    'an event never changes, so one that arrives twice may be dropped. Messages named "place" have the place of a '
    'run that waits. Comments keep the connection open. The last message is named "end"; after a stream that closes '
    "without it, ask again with Last-Event-ID."
)
BRANCH = (
    "Starts a run that continues from a hop of a run of yours, which must have ended: with another question in the "
    "hop's place, or none, or another answerer from there on. The hops before it are kept; no model is called for "
    "them again. What came after it is not in the new run, and the earlier one stays as it is."
)

ERRORS_BY_ID = (404, 501, 503)
"""Problems when a run is requested by its id."""
ERRORS_OWNED = (401, *ERRORS_BY_ID)
"""Problems when only the run's owner may request it."""
ERRORS_CHANGE = (400, 409, 413, 415, 422, *ERRORS_OWNED)
"""Problems when the request changes the run."""
ERRORS_START = (400, 401, 413, 415, 422, 429, 503)
ERRORS_LIST = (401, 422, 503)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation, in the query by default."""

    name: str
    schema: Schema
    description: str
    location: str = "query"
    required: bool = False

    def to_openapi(self) -> Schema:
        """Return the parameter as an OpenAPI Parameter Object."""
        described = {"name": self.name, "in": self.location, "schema": self.schema, "description": self.description}
        return described | ({"required": True} if self.required else {})


IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    TEXT,
    "Any text. A repeated request with the same key returns the run or batch that the first one created.",
    "header",
)
LIMIT_PARAMETER = Parameter("limit", LIMIT_SCHEMA, "The maximum number of entries.")
CURSOR: Schema = {**TEXT, "pattern": "^[0-9]{1,17}(\\.[^\\u0000]*)?$"}
LISTING = (LIMIT_PARAMETER, Parameter("cursor", CURSOR, "`next` of the previous page."))
FILTERS = (
    Parameter("q", {**TEXT, "maxLength": MAX_SEARCH}, "Words of the claim, whatever their case."),
    Parameter(
        "label", {**TEXT, "enum": list(OUTCOMES)}, "The label of the verdict, or the state of a run without one."
    ),
    Parameter("answerer", TEXT, "The run's answerer: a name of `answerers` in /choices."),
)
STREAM_PARAMETERS = (
    Parameter("after", COUNT, "The number of the last event received; the stream continues after it."),
    Parameter("Last-Event-ID", TEXT, "Overrides `after`; sent by an EventSource that reconnects.", "header"),
)
WITH_NOTES = Parameter("notes", {**TEXT, "enum": ["yes"]}, "Include your notes. Only for your own runs.")
RUN_IDS = Parameter(
    "run",
    {
        "type": "array",
        "items": {**TEXT, "minLength": 1},
        "minItems": MIN_RUNS,
        "maxItems": MAX_RUNS,
        "uniqueItems": True,
    },
    "The ids of runs of one claim; repeat the parameter for each.",
    required=True,
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation."""

    route: str
    """Method and path ("get /runs"). The path is below API; one written with `//` is below the site's root."""
    operation_id: str
    summary: str
    response_description: str
    _: KW_ONLY
    response_schema: str = ""
    """The name of the schema of a JSON response."""
    description: str = ""
    status: int = 200
    content: tuple[str, Schema] | None = None
    """Media type and schema of a response that is not JSON."""
    error_statuses: tuple[int, ...] = ()
    """Statuses of responses that are problem details."""
    request_schema: str = ""
    """The name of the schema of the request body."""
    needs_auth: bool = False
    """Whether it needs a token or the cookie."""
    parameters: tuple[Parameter, ...] = ()
    other_responses: tuple[tuple[int, str], ...] = ()
    """Other statuses with the same schema, each with the description of its response."""

    def to_openapi(self, tag: str) -> Schema:
        """Return the operation as an OpenAPI Operation Object."""
        descriptions = {self.status: self.response_description, **dict(self.other_responses)}
        responses = {code: self._response(text) for code, text in descriptions.items()}
        if self.status == HTTPStatus.CREATED:
            responses[self.status]["headers"] = {"Location": {"schema": TEXT}}
        for code in self.error_statuses:
            phrase = f"{HTTPStatus(code).phrase}."
            responses[code] = _content(phrase, "application/problem+json", reference("Problem"))
        operation: Schema = {
            "tags": [tag],
            "operationId": self.operation_id,
            "summary": self.summary,
            "responses": {str(code): each for code, each in sorted(responses.items())},
        }
        if self.description:
            operation["description"] = self.description
        if self.request_schema:
            content = {"application/json": {"schema": reference(self.request_schema)}}
            operation["requestBody"] = {"required": True, "content": content}
        if self.needs_auth:
            operation["security"] = [{"token": []}, {"cookie": []}]
        if self.parameters:
            operation["parameters"] = [each.to_openapi() for each in self.parameters]
        return operation

    def _response(self, text: str) -> Schema:
        if self.content:
            return _content(text, *self.content)
        schema = self.response_schema
        return _content(text, "application/json", reference(schema)) if schema else {"description": text}


def reference(name: str) -> Schema:
    return {"$ref": REF.format(model=name)}


def _content(description: str, media_type: str, schema: Schema) -> Schema:
    return {"description": description, "content": {media_type: {"schema": schema}}}


def _action(route: str, operation_id: str, summary: str, response_description: str, description: str = "") -> Operation:
    """Return an operation that changes a run or batch of the principal and takes no fields."""
    return Operation(
        route,
        operation_id,
        summary,
        response_description,
        description=description,
        response_schema="Batch" if "{batch_id}" in route else "Run",
        error_statuses=ERRORS_CHANGE,
        request_schema="Nothing",
        needs_auth=True,
    )


def _export(exporter: Exporter, operation: ExportOperation) -> Operation:
    return Operation(
        f"get /runs/{{run_id}}/{exporter.file}",
        **operation._asdict(),
        content=(exporter.media_type, {"type": "object"} if exporter.media_type.endswith("json") else TEXT),
        error_statuses=(401, 409, 422, *ERRORS_BY_ID) if exporter.takes_notes else (409, *ERRORS_BY_ID),
        parameters=(WITH_NOTES,) if exporter.takes_notes else (),
    )


RUNS = (
    Operation(
        "get /runs", "listRuns", "List your runs", "The runs that match, newest first.", response_schema="RunList",
        error_statuses=ERRORS_LIST, needs_auth=True, parameters=(*LISTING, *FILTERS),
    ),
    Operation(
        "post /runs", "startRun", "Start a run", "The new run.", response_schema="Run",
        description="Omitted fields have the site's defaults. GET /choices lists the values and which host receives "
        "the claim.", status=201, error_statuses=ERRORS_START, request_schema="NewRun", needs_auth=True,
        parameters=(IDEMPOTENCY_KEY,),
    ),
    Operation(
        "get /runs/{run_id}", "readRun", "Read a run as it is now", "The run.", response_schema="Run",
        error_statuses=ERRORS_BY_ID,
    ),
    Operation(
        "delete /runs/{run_id}", "deleteRun", "Delete a run", "Deleted.",
        description="Stops the run if it is running and hides it from everybody. Its owner can restore it for "
        f"{UNDO_MINUTES}. Then it is purged with its events, its notes and the cached replies that no other run used.",
        status=204, error_statuses=ERRORS_OWNED, needs_auth=True,
    ),
    Operation(
        "get /runs/{run_id}/events", "followRun", "Follow a run", "Messages, each as in the schema Message.",
        description=STREAM,
        content=("text/event-stream", TEXT), error_statuses=(403, 422, *ERRORS_BY_ID),
        parameters=STREAM_PARAMETERS,
    ),
    _action(
        "post /runs/{run_id}/stop", "stopRun", "Stop a run", "The ended run.",
        description="Ends a run of yours at once. Finished hops are kept, the one under way is marked as interrupted.",
    ),
    _action(
        "post /runs/{run_id}/conclude", "concludeRun", "Conclude a run now",
        "The run, which concludes at its next step.",
        description="Asks for a verdict from what a run of yours has kept; 409 while nothing has been kept.",
    ),
    Operation(
        "post /runs/{run_id}/branch", "branchRun", "Continue from a hop", "The new run.", response_schema="Run",
        description=BRANCH, status=201, error_statuses=(*ERRORS_CHANGE, 429), request_schema="NewBranch",
        needs_auth=True,
    ),
    Operation(
        "get /runs/{run_id}/branches", "listBranches", "List the branches of a run",
        "The runs, oldest first; all of them, so there is no next.", response_schema="RunList",
        error_statuses=ERRORS_OWNED, needs_auth=True,
    ),
    _action(
        "post /runs/{run_id}/restore", "restoreRun", "Restore a deleted run", "The restored run.",
        description="A second time changes nothing.",
    ),
    Operation(
        "get /deleted", "listDeletedRuns", "List the runs that can be restored",
        "The runs, the last deleted first; all of them, so there is no next.", response_schema="RunList",
        error_statuses=(401, 503), needs_auth=True,
    ),
)  # fmt: skip

BATCHES = (
    Operation(
        "get /batches", "listBatches", "List your batches", "The batches, newest first.", response_schema="BatchList",
        error_statuses=ERRORS_LIST, needs_auth=True, parameters=(LIMIT_PARAMETER,),
    ),
    Operation(
        "post /batches", "startBatch", "Start a batch", "The new batch.", response_schema="Batch",
        description="Checks many claims, a few at a time, after the runs that single people start. A line that is no "
        "claim is kept with the reason; 422 where all are. 404 where the operator takes no batches.", status=201,
        error_statuses=(*ERRORS_START, 404), request_schema="NewBatch", needs_auth=True, parameters=(IDEMPOTENCY_KEY,),
    ),
    Operation(
        "get /batches/{batch_id}", "readBatch", "Read how far a batch is", "The batch.", response_schema="Batch",
        error_statuses=(404, 503),
    ),
    Operation(
        "delete /batches/{batch_id}", "deleteBatch", "Delete a batch", "Deleted.",
        description="Cancels the batch if it has not ended and hides it and all its runs from everybody. Its owner "
        f"can restore them together for {UNDO_MINUTES}. Then they are purged.", status=204,
        error_statuses=(401, 404, 503), needs_auth=True,
    ),
    Operation(
        "get /batches/{batch_id}/results", "listBatchResults", "Read the results of a batch",
        "The claims and the result of each, in order.", response_schema="BatchResults", error_statuses=(404, 422, 503),
        parameters=(LIMIT_PARAMETER, Parameter("after", CLAIM_NUMBER, "`next` of the previous page.")),
    ),
    _action(
        "post /batches/{batch_id}/pause", "pauseBatch", "Pause a batch", "The batch.",
        description="Starts no more of its runs; those that have started come to their end. 409 unless it was going.",
    ),
    _action("post /batches/{batch_id}/resume", "resumeBatch", "Resume a paused batch", "The batch."),
    _action(
        "post /batches/{batch_id}/cancel", "cancelBatch", "Cancel a batch", "The batch.",
        description="Starts no more of its runs, for good, and ends those that are running. 409 for one that is over.",
    ),
    _action(
        "post /batches/{batch_id}/retry", "retryBatch", "Try again what failed", "The batch.",
        description="Gives claims whose run failed or was interrupted a new one. 409 for none, or a cancelled batch.",
    ),
    _action(
        "post /batches/{batch_id}/restore", "restoreBatch", "Restore a deleted batch", "The restored batch.",
        description="Also restores the runs that were deleted with it. A batch that had not ended when it was deleted "
        "is cancelled. A second time changes nothing.",
    ),
    Operation(
        "get /deleted/batches", "listDeletedBatches", "List the batches that can be restored",
        "The batches, the last deleted first.", response_schema="BatchList", error_statuses=(401, 503), needs_auth=True,
    ),
)  # fmt: skip

REPORTS = (
    Operation(
        "post /import", "importReport", "Import a report", "The new run.", response_schema="Run",
        description="Keeps an exported report as a run of yours that is marked as imported: its check did not take "
        "place here.", status=201, error_statuses=(401, 413, 415, 422, 429, 503), request_schema="Exported",
        needs_auth=True,
    ),
    _action(
        "post /runs/{run_id}/publish", "publishReport", "Publish a report", "The run.",
        description="Puts a run of yours that has come to a verdict in the gallery, where anybody finds it; 404 where "
        "the operator lets nobody publish, 409 for a run that cannot be published, with the reason.",
    ),
    _action(
        "post /runs/{run_id}/unpublish", "unpublishReport", "Unpublish a report", "The run.",
        description="Takes a run of yours out of the gallery. A second time changes nothing.",
    ),
    Operation(
        "get /gallery", "listPublishedReports", "List published reports", "The reports, the last published first.",
        response_schema="Gallery", description="404 where the operator lets nobody publish.",
        error_statuses=(404, 422, 503),
        parameters=(*LISTING, Parameter("label", {**TEXT, "enum": list(Label)}, "The label of the verdict.")),
    ),
    *(_export(each, each.operation) for each in exporters() if each.operation),
    Operation(
        "get /compare", "compareRuns", "Compare runs of a claim", "The runs side by side.",
        response_schema="Comparison",
        description="Returns their current state; use GET /runs/{run_id}/events to follow one. Open to anybody who "
        "has the ids.", error_statuses=(422, *ERRORS_BY_ID), parameters=(RUN_IDS,),
    ),
)  # fmt: skip

NOTES = (
    Operation(
        "get /runs/{run_id}/notes", "listNotes", "Read your notes on a run", "The notes.", response_schema="NoteList",
        error_statuses=ERRORS_OWNED, needs_auth=True,
    ),
    Operation(
        "put /runs/{run_id}/notes/{hop}", "writeNote", "Write a note", "The note.", response_schema="Note",
        description="Says whether you agree with a hop or the verdict of a run of yours that has ended. Replaces the "
        "note.", error_statuses=ERRORS_CHANGE, request_schema="NewNote", needs_auth=True,
    ),
    Operation(
        "delete /runs/{run_id}/notes/{hop}", "removeNote", "Remove a note", "The note no longer exists.",
        description="If there is none, nothing changes.", status=204, error_statuses=(409, *ERRORS_OWNED),
        needs_auth=True,
    ),
)  # fmt: skip

SITE = (
    Operation("get /choices", "listChoices", "List the options of a run", "The choices.", response_schema="Choices"),
    Operation(
        "get //healthz", "checkHealth", "Check that the process responds", "The process responds.",
        content=("text/plain", TEXT),
    ),
    Operation(
        "get //readyz", "checkReadiness", "Check that runs can be executed", "Runs can be executed.",
        response_schema="Readiness", other_responses=((503, "Something is missing or still loading."),),
    ),
)  # fmt: skip

OPERATIONS = {"runs": RUNS, "batches": BATCHES, "reports": REPORTS, "notes": NOTES, "site": SITE}
"""The operations by tag."""
