"""The operations of the JSON API as a table: their parameters, responses and errors."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from app.domain.comparison import MAX_RUNS, MIN_RUNS
from app.domain.model import Label
from app.runs.lifecycle import UNDO_SECONDS
from app.web.api.blueprint import LIMIT
from app.web.exporters import Exporter, exporters
from app.web.pages.history import MAX_SEARCH, OUTCOMES

Schema = dict[str, Any]

REF = "#/components/schemas/{model}"
TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
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

BY_ID = (404, 501, 503)
"""Problems when a run is requested by its id."""
OWNED = (401, *BY_ID)
"""Problems when only the run's owner may request it."""
STEERED = (400, 409, 413, 415, 422, *OWNED)
"""Problems when the request changes the run."""
STARTED = (400, 401, 413, 415, 422, 429, 503)
LISTED = (401, 422, 503)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation, in the query by default."""

    name: str
    schema: Schema
    about: str
    place: str = "query"
    required: bool = False

    def described(self) -> Schema:
        """Return the parameter as an OpenAPI Parameter Object."""
        required = {"required": True} if self.required else {}
        return {"name": self.name, "in": self.place, **required, "schema": self.schema, "description": self.about}


ONCE = Parameter(
    "Idempotency-Key",
    TEXT,
    "Any text. A repeated request with the same key returns the run or batch that the first one created.",
    "header",
)
AT_MOST = Parameter("limit", LIMIT, "The maximum number of entries.")
LISTING = (AT_MOST, Parameter("cursor", TEXT, "`next` of the previous page."))
FILTERS = (
    Parameter("q", {**TEXT, "maxLength": MAX_SEARCH}, "Words of the claim, whatever their case."),
    Parameter(
        "label", {**TEXT, "enum": list(OUTCOMES)}, "The label of the verdict, or the state of a run without one."
    ),
    Parameter("answerer", TEXT, "The run's answerer: a name of `answerers` in /choices."),
)
FOLLOWING = (
    Parameter("after", COUNT, "The number of the last event received; the stream continues after it."),
    Parameter("Last-Event-ID", TEXT, "Overrides `after`; sent by an EventSource that reconnects.", "header"),
)
WITH_NOTES = Parameter("notes", {**TEXT, "enum": ["yes"]}, "Include your notes. Only for your own runs.")
COMPARED = Parameter(
    "run",
    {"type": "array", "items": TEXT, "minItems": MIN_RUNS, "maxItems": MAX_RUNS},
    "The ids of runs of one claim; repeat the parameter for each.",
    required=True,
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation."""

    path: str
    """Method and path, relative to the API's path unless it begins with two slashes."""
    name: str
    summary: str
    answered: str
    """The description of the response."""
    about: str = ""
    """The description of the operation."""
    answer: str = ""
    """The name of the schema of a JSON response."""
    status: int = 200
    content: tuple[str, Schema] | None = None
    """Media type and schema of a response that is not JSON."""
    problems: tuple[int, ...] = ()
    """The error statuses, answered with problem details."""
    body: str = ""
    """The name of the schema of the request body."""
    owned: bool = False
    """Whether it needs a token or the cookie."""
    parameters: tuple[Parameter, ...] = ()
    also: tuple[tuple[int, str], ...] = ()
    """Other statuses with the same schema, each with the description of its response."""

    def described(self, tag: str) -> Schema:
        """Return the operation as an OpenAPI Operation Object."""
        answers = {self.status: self._answer(self.answered), **{code: self._answer(text) for code, text in self.also}}
        problem = "application/problem+json"
        refusals = {
            code: _content(f"{HTTPStatus(code).phrase}.", problem, reference("Problem")) for code in self.problems
        }
        if self.status == HTTPStatus.CREATED:
            answers[self.status]["headers"] = {"Location": {"schema": TEXT}}
        operation: Schema = {
            "tags": [tag],
            "operationId": self.name,
            "summary": self.summary,
            "responses": {str(code): each for code, each in sorted((answers | refusals).items())},
        }
        if self.about:
            operation["description"] = self.about
        if self.body:
            content = {"application/json": {"schema": reference(self.body)}}
            operation["requestBody"] = {"required": self.body != "Nothing", "content": content}
        if self.owned:
            operation["security"] = [{"token": []}, {"cookie": []}]
        if self.parameters:
            operation["parameters"] = [each.described() for each in self.parameters]
        return operation

    def _answer(self, text: str) -> Schema:
        if self.content:
            return _content(text, *self.content)
        return _content(text, "application/json", reference(self.answer)) if self.answer else {"description": text}


def reference(name: str) -> Schema:
    return {"$ref": REF.format(model=name)}


def _content(description: str, media: str, schema: Schema) -> Schema:
    return {"description": description, "content": {media: {"schema": schema}}}


def _steering(path: str, name: str, summary: str, about: str, answered: str = "", of: str = "run") -> Operation:
    """Return an operation that changes a run or batch of the principal and takes no fields."""
    return Operation(
        f"post /{'batches' if of == 'batch' else 'runs'}/{{{of}_id}}/{path}",
        name,
        summary,
        answered or f"The {of}.",
        about,
        of.capitalize(),
        problems=STEERED,
        body="Nothing",
        owned=True,
    )


def _export(exporter: Exporter) -> Operation:
    name, summary, answered, about = exporter.operation or ("", "", "", "")
    return Operation(
        f"get /runs/{{run_id}}/{exporter.file}",
        name,
        summary,
        answered,
        about,
        content=(exporter.media_type, {"type": "object"} if exporter.media_type.endswith("json") else TEXT),
        problems=(401, 409, 422, *BY_ID) if exporter.takes_notes else (409, *BY_ID),
        parameters=(WITH_NOTES,) if exporter.takes_notes else (),
    )


RUNS = (
    Operation(
        "get /runs", "listRuns", "List your runs", "The runs that match, newest first.", "", "RunList",
        problems=LISTED, owned=True, parameters=(*LISTING, *FILTERS),
    ),
    Operation(
        "post /runs", "startRun", "Start a run", "The new run.",
        "Omitted fields have the site's defaults. GET /choices lists the values and which host receives the claim.",
        "Run", 201, problems=STARTED, body="NewRun", owned=True, parameters=(ONCE,),
    ),
    Operation("get /runs/{run_id}", "readRun", "Read a run as it is now", "The run.", "", "Run", problems=BY_ID),
    Operation(
        "delete /runs/{run_id}", "deleteRun", "Delete a run", "Deleted.",
        "Stops the run if it is running and hides it from everybody. Its owner can restore it for "
        f"{UNDO_MINUTES}. Then it is purged with its events, its notes and the cached replies that no other run used.",
        status=204, problems=OWNED, owned=True,
    ),
    Operation(
        "get /runs/{run_id}/events", "followRun", "Follow a run", "Messages, each of this schema.", STREAM,
        content=("text/event-stream", reference("Message")), problems=(403, 422, *BY_ID), parameters=FOLLOWING,
    ),
    _steering(
        "stop", "stopRun", "Stop a run",
        "Ends a run of yours at once. Finished hops are kept, the one under way is marked as interrupted.",
        "The ended run.",
    ),
    _steering(
        "conclude", "concludeRun", "Conclude a run now",
        "Asks for a verdict from what a run of yours has kept; 409 while nothing has been kept.",
        "The run, which concludes at its next step.",
    ),
    Operation(
        "post /runs/{run_id}/branch", "branchRun", "Continue from a hop", "The new run.", BRANCH, "Run", 201,
        problems=(*STEERED, 429), body="NewBranch", owned=True,
    ),
    Operation(
        "get /runs/{run_id}/branches", "listBranches", "List the branches of a run",
        "The runs, oldest first; all of them, so there is no next.", "", "RunList", problems=OWNED, owned=True,
    ),
    _steering(
        "restore", "restoreRun", "Restore a deleted run", "A second time changes nothing.", "The restored run.",
    ),
    Operation(
        "get /deleted", "listDeletedRuns", "List the runs that can be restored",
        "The runs, the last deleted first; all of them, so there is no next.", "", "RunList",
        problems=(401, 503), owned=True,
    ),
)  # fmt: skip

BATCHES = (
    Operation(
        "get /batches", "listBatches", "List your batches", "The batches, newest first.", "", "BatchList",
        problems=LISTED, owned=True, parameters=(AT_MOST,),
    ),
    Operation(
        "post /batches", "startBatch", "Start a batch", "The new batch.",
        "Checks many claims, a few at a time, after the runs that single people start. A line that is no claim is kept "
        "with the reason; 422 where all are. 404 where the operator takes no batches.",
        "Batch", 201, problems=(*STARTED, 404), body="NewBatch", owned=True, parameters=(ONCE,),
    ),
    Operation(
        "get /batches/{batch_id}", "readBatch", "Read how far a batch is", "The batch.", "", "Batch",
        problems=(404, 503),
    ),
    Operation(
        "delete /batches/{batch_id}", "deleteBatch", "Delete a batch", "Deleted.",
        "Cancels the batch if it has not ended and hides it and all its runs from everybody. Its owner can restore "
        f"them together for {UNDO_MINUTES}. Then they are purged.",
        status=204, problems=(401, 404, 503), owned=True,
    ),
    Operation(
        "get /batches/{batch_id}/results", "listBatchResults", "Read the results of a batch",
        "The claims and the result of each, in order.", "", "BatchResults", problems=(404, 422, 503),
        parameters=(AT_MOST, Parameter("after", {**COUNT, "maximum": 9_999_999}, "`next` of the previous page.")),
    ),
    _steering(
        "pause", "pauseBatch", "Pause a batch",
        "Starts no more of its runs; those that have started come to their end. 409 unless it was going.", of="batch",
    ),
    _steering("resume", "resumeBatch", "Resume a paused batch", "", of="batch"),
    _steering(
        "cancel", "cancelBatch", "Cancel a batch",
        "Starts no more of its runs, for good, and ends those that are running. 409 for one that is over.", of="batch",
    ),
    _steering(
        "retry", "retryBatch", "Try again what failed",
        "Gives a new run to each claim whose run failed or was interrupted. 409 where there is none.", of="batch",
    ),
    _steering(
        "restore", "restoreBatch", "Restore a deleted batch",
        "Also restores the runs that were deleted with it. A batch that had not ended when it was deleted is "
        "cancelled. A second time changes nothing.",
        "The restored batch.", of="batch",
    ),
    Operation(
        "get /deleted/batches", "listDeletedBatches", "List the batches that can be restored",
        "The batches, the last deleted first.", "", "BatchList", problems=(401, 503), owned=True,
    ),
)  # fmt: skip

REPORTS = (
    Operation(
        "post /import", "importReport", "Import a report", "The new run.",
        "Keeps an exported report as a run of yours that is marked as imported: its check did not take place here.",
        "Run", 201, problems=(401, 413, 415, 422, 429, 503), body="Exported", owned=True,
    ),
    _steering(
        "publish", "publishReport", "Publish a report",
        "Puts a run of yours that has come to a verdict in the gallery, where anybody finds it; 404 where the operator "
        "lets nobody publish, 409 for a run that cannot be published, with the reason.",
    ),
    _steering(
        "unpublish", "unpublishReport", "Unpublish a report",
        "Takes a run of yours out of the gallery. A second time changes nothing.",
    ),
    Operation(
        "get /gallery", "listPublishedReports", "List published reports", "The reports, the last published first.",
        "404 where the operator lets nobody publish.", "Gallery", problems=(404, 422, 503),
        parameters=(*LISTING, Parameter("label", {**TEXT, "enum": list(Label)}, "The label of the verdict.")),
    ),
    *(_export(each) for each in exporters() if each.operation),
    Operation(
        "get /compare", "compareRuns", "Compare runs of a claim", "The runs side by side.",
        "Returns their current state; use GET /runs/{run_id}/events to follow one. Open to anybody who has the ids.",
        "Comparison", problems=(422, *BY_ID), parameters=(COMPARED,),
    ),
)  # fmt: skip

NOTES = (
    Operation(
        "get /runs/{run_id}/notes", "listNotes", "Read your notes on a run", "The notes.", "", "NoteList",
        problems=OWNED, owned=True,
    ),
    Operation(
        "put /runs/{run_id}/notes/{hop}", "writeNote", "Write a note", "The note.",
        "Says whether you agree with a hop or the verdict of a run of yours that has ended. Replaces the note.",
        "Note", problems=STEERED, body="NewNote", owned=True,
    ),
    Operation(
        "delete /runs/{run_id}/notes/{hop}", "removeNote", "Remove a note", "The note no longer exists.",
        "If there is none, nothing changes.", status=204, problems=(409, *OWNED), owned=True,
    ),
)  # fmt: skip

SITE = (
    Operation(
        "get /choices", "listChoices", "List the options of a run on this site", "The choices.", answer="Choices",
    ),
    Operation(
        "get //healthz", "checkHealth", "Check that the process responds", "The process responds.",
        content=("text/plain", TEXT),
    ),
    Operation(
        "get //readyz", "checkReadiness", "Check that runs can be executed", "Runs can be executed.",
        answer="Readiness", also=((503, "Something is missing or still loading."),),
    ),
)  # fmt: skip

OPERATIONS = {"runs": RUNS, "batches": BATCHES, "reports": REPORTS, "notes": NOTES, "site": SITE}
"""The operations by tag."""
