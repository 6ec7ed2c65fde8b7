"""API routes that describe the API: its OpenAPI document, the page that shows it, and the options of a run."""

from __future__ import annotations

import re
from functools import cache

from flask import Response, jsonify, render_template

from app.config.settings import MAX_HOPS
from app.domain.model import LabelSet
from app.runs.event_store import event_schema
from app.runs.json_schema import as_json, json_schemas
from app.runs.transfer import options_of
from app.web.api import schemas
from app.web.api.blueprint import API, api_blueprint
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
        "info": {"title": "Hopcheck", "version": "1", "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
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
    for each in OPERATIONS:
        method, path = each.path.split()
        path = path[1:] if path.startswith("//") else API + path
        named = [PATH[name].described() for name in re.findall(r"{(\w+)}", path)]
        paths.setdefault(path, {"parameters": named} if named else {})[method] = each.described()
    return paths


def _schemas() -> Schema:
    event = event_schema(REF)
    parts = event.pop("$defs")
    numbered = {"properties": {"seq": COUNT, "seconds": {"type": "number", "minimum": 0}}}
    return {
        **parts,
        "Event": event,
        "StoredEvent": {"allOf": [reference("Event"), numbered]},
        "Exported": {"type": "object", "description": "A run that has ended, as GET /runs/{run_id} answers it."},
        **json_schemas([*schemas.REQUESTS, *schemas.ANSWERS], REF),
    }


api = api_blueprint("api")


@api.get("/api")
def browse() -> str:
    """Show the API's document as a page."""
    return render_template("api.html", document=document())


@api.get(f"{API}/openapi.json")
def openapi() -> Response:
    """Return the API's document, OpenAPI 3.1."""
    return jsonify(document())


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
