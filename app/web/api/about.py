"""API routes that describe the API: its OpenAPI document, the page that shows it, and the options of a run."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from functools import cache

from flask import Response, jsonify, render_template

from app.config import VERSION
from app.config.settings import MAX_HOPS
from app.domain.model import LabelSet
from app.runs.event_store import event_schema
from app.runs.json_schema import as_json, json_schemas
from app.runs.report_schema import RunReport
from app.runs.transfer import options_of
from app.web.api import schemas
from app.web.api.blueprint import API, api_blueprint
from app.web.api.examples import examples
from app.web.api.operations import COUNT, OPERATIONS, REF, TEXT, Parameter, Schema, reference
from app.web.api.schemas import Choices, Labels
from app.web.forms import EXAMPLES
from app.web.services import capabilities

ABOUT = (
    "Check a claim one question at a time, with the evidence for every answer. What a page of this site does, a "
    "program can do here. Errors are problem details (RFC 9457). Where tokens are set up, starting, listing and "
    "steering runs need one; elsewhere runs belong to the session cookie that starting the first one sets. Reading and "
    "following a run are open to whoever has its id."
)
TAGS = {
    "runs": "Start, follow, steer and delete checks of a claim.",
    "batches": "Check many claims with the same options.",
    "reports": "Export, import, compare and publish what came out.",
    "notes": "Your own opinion on a verdict or a hop.",
    "site": "What can be chosen here, and whether it works.",
}
PATH = {
    "run_id": Parameter("run_id", TEXT, "The run's id.", "path", True),
    "batch_id": Parameter("batch_id", TEXT, "The batch's id.", "path", True),
    "hop": Parameter(
        "hop", {**COUNT, "maximum": schemas.HIGHEST_HOP}, "The number of the hop, 0 for the verdict.", "path", True
    ),
}


@cache
def document() -> Schema:
    """Return the document; the same object each time, so do not change it."""
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
    for tag, each in ((tag, each) for tag, group in OPERATIONS.items() for each in group):
        method, path = each.path.split()
        path = path[1:] if path.startswith("//") else API + path
        named = [PATH[name].described() for name in re.findall(r"{(\w+)}", path)]
        paths.setdefault(path, {"parameters": named} if named else {})[method] = each.described(tag)
    return paths


def _schemas() -> Schema:
    event = event_schema(REF)
    parts = event.pop("$defs")
    for address in event["discriminator"]["mapping"].values():
        kind = parts[address.rpartition("/")[2]]  # generators drop a union that is combined with other fields
        kind["properties"] |= {"seq": COUNT, "seconds": {"type": "number", "minimum": 0}}
        kind["required"] = [*kind.get("required", []), "seq", "seconds"]
    described = {
        **parts,
        "Event": event,
        "StoredEvent": {"description": "An event as the stream sends it.", "oneOf": [reference("Event")]},
        **json_schemas([*schemas.REQUESTS, *schemas.ANSWERS], REF),
        "Exported": _exported(),
    }
    return described | {name: {**described[name], "examples": [example]} for name, example in examples().items()}


def _exported() -> Schema:
    """Return the schema of a report to import, which may lack fields with a default and have fields of a run."""
    whole = json_schemas([RunReport], REF)["RunReport"]
    return {
        **whole,
        "description": "A run that has ended, as GET /runs/{run_id} answers it.",
        "required": [each.name for each in fields(RunReport) if each.default is MISSING],
        "additionalProperties": True,
    }


api = api_blueprint("api")


@api.get("/api")
def browse() -> str:
    """Show the API's document as a page."""
    return render_template("api.html", document=document())


@api.get(f"{API}/openapi.json")
def openapi() -> Response:
    """Return the API's document, OpenAPI 3.1, in its own order: generators read unions after their parts."""
    return Response(json.dumps(document()), mimetype="application/json")


@api.get(f"{API}/choices")
def choices() -> Response:
    """Return the options and defaults of a run on this site."""
    here = capabilities()
    answer = Choices(
        here.strategies,
        here.presets,
        here.answerers,
        here.models,
        here.corpora,
        here.pursuits,
        here.searches,
        labels=tuple(Labels(each, each.labels) for each in LabelSet),
        most_hops=MAX_HOPS,
        defaults=options_of(here.defaults()),
        samples=tuple(sample.claim for sample in EXAMPLES),
    )
    return jsonify(as_json(answer))
