"""The OpenAPI document of the JSON API, the page that shows it, and the operations that describe this site."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from flask import Response, render_template

from app.config import VERSION
from app.domain.events import QuestionAsked
from app.domain.model import RANGES, LabelSet, Question
from app.runs.event_store import StoredEvent, event_schema
from app.runs.json_schema import json_schemas
from app.runs.report_schema import RunReport
from app.runs.transfer import options_of
from app.web import batches, capabilities, notes, reports
from app.web.api.blueprint import (
    API,
    OPERATIONS,
    PATH_PARAMETERS,
    REF,
    TEXT,
    Operation,
    Schema,
    api,
    operation,
    parameter,
    reference,
)
from app.web.api.schemas import CLAIM_TEXT, Choices, Labels, Message, Problem, Readiness
from app.web.forms import EXAMPLES
from app.web.observability import healthz, readyz

__all__ = ["batches", "notes", "reports"]  # imported for their operations

ABOUT = (
    "Check a claim one question at a time, with the evidence for every answer. Programs can do here most of what the "
    "pages of this site do, but cannot split a text into claims. Errors are problem details (RFC 9457). Where tokens "
    "are set up, starting, listing and steering runs need one; elsewhere runs belong to the session cookie that "
    "starting the first one sets. Reading and following a run are open to whoever has its id."
)
TAGS = {
    "runs": "Start, follow, steer and delete checks of a claim.",
    "batches": "Check many claims with the same options.",
    "reports": "Export, import, compare and publish what came out.",
    "notes": "Your own opinion on a verdict or a hop.",
    "site": "What can be chosen here, and whether it works.",
}
EVENT = StoredEvent(2, 0.4, QuestionAsked(1, Question("Who wrote Hamlet?"))).as_json()
CLAIM = "The author of Hamlet was born in England."
EXAMPLES_OF: dict[str, Any] = {
    "NewRun": {"claim": CLAIM, "speaker": "A teacher", "date": "2020-10-31", "max_hops": 4},
    "NewBatch": {"title": "Of the week", "claims": [CLAIM, {"claim": "Paris is a river.", "speaker": "A pupil"}]},
    "NewBranch": {"hop": 2, "question": "In which country was William Shakespeare born?"},
    "NewNote": {"agrees": False, "text": "Stratford is named, but the passage does not say when."},
    "StoredEvent": EVENT,
    "Message": {"id": "2", "data": json.dumps(EVENT)},
    "Problem": {
        "type": "about:blank",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "Please write a claim.",
        "field": "claim",
    },
}
"""Examples by schema, of what is sent and of what no GET of this site shows."""


@cache
def document() -> Schema:
    """Return the OpenAPI document. It is cached, so callers must not change it."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hopcheck", "version": VERSION, "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": about} for name, about in TAGS.items()],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "hopcheck"},
            },
        },
    }


def _paths() -> Schema:
    paths: Schema = {}
    for each in sorted(OPERATIONS, key=lambda each: list(TAGS).index(each.tag)):
        path = each.path.replace("<", "{").replace(">", "}")
        named = [parameter(name, "path", about) for name, about in PATH_PARAMETERS.items() if f"<{name}>" in each.path]
        paths.setdefault(path, {"parameters": named} if named else {})[each.method] = each.to_openapi()
    ready = paths["/readyz"]["get"]["responses"]
    ready["503"] = ready["200"] | {"description": "Something is missing or still loading."}
    return paths


def _schemas() -> Schema:
    event = event_schema(REF)
    parts = event.pop("$defs")
    used = [each.types[name] for each in OPERATIONS for name in ("body", "return") if name in each.types]
    models = [each for each in used if is_dataclass(each) or each.__name__.startswith(("New", "Nothing"))]
    described = {
        **parts,
        "Event": event,
        "StoredEvent": {"description": "An event as the stream sends it.", "oneOf": [reference("Event")]},
        **json_schemas(dict.fromkeys([*models, Message, Problem, Readiness]), REF),
        "Exported": _exported(),
    }
    return described | {name: {**described[name], "examples": [each]} for name, each in EXAMPLES_OF.items()}


def _exported() -> Schema:
    """Return the schema of a report to import: fields with a default may be missing.

    Fields that a report does not have, such as a run's `place`, are ignored.
    """
    whole = json_schemas([RunReport], REF)["RunReport"]
    return {
        **whole,
        "description": "A run that has ended, as GET /runs/{run_id} answers it.",
        "required": [each.name for each in fields(RunReport) if each.default is MISSING],
        "additionalProperties": True,
        "properties": {**whole["properties"], "claim": {"type": "string", **CLAIM_TEXT}},
        "anyOf": [
            {"properties": {"state": {"const": "verdict"}, "label": reference("Label")}},
            {"properties": {"state": {"enum": ["failed", "interrupted"]}, "label": {"type": "null"}}},
        ],
    }


@api.get("/api")
def browse() -> str:
    """Show the API's document as a page."""
    return render_template("api.html", document=document())


@api.get(f"{API}/openapi.json")
def openapi() -> Response:
    """Return the API's document, OpenAPI 3.1, in its own order, because generators need the parts of a union first."""
    return Response(json.dumps(document()), mimetype="application/json")


@operation("get /choices", "site")
def list_choices() -> Choices:
    """List the options of a run and their defaults on this site."""
    available = capabilities()
    own: dict[str, Any] = {
        "labels": tuple(Labels(each, each.labels) for each in LabelSet),
        "most_hops": RANGES["max_hops"].maximum,
        "defaults": options_of(available.defaults()),
        "samples": tuple(sample.claim for sample in EXAMPLES),
    }
    return Choices(
        **{each.name: getattr(available, each.name) for each in fields(Choices) if each.name not in own}, **own
    )


OPERATIONS += (
    Operation(
        "get", "/healthz", "site", healthz, name="checkHealth", about="Check that the process responds",
        content=("text/plain", TEXT),
    ),
    Operation(
        "get", "/readyz", "site", readyz, name="checkReadiness", about="Check that runs can be executed",
        content=("application/json", reference("Readiness")),
    ),
)  # fmt: skip
