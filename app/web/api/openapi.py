"""The OpenAPI 3.1 document of the JSON API, from its table of operations and its schemas."""

from __future__ import annotations

import re
from functools import cache

from app.runs.event_store import event_schema
from app.runs.json_schema import json_schemas
from app.web.api import schemas
from app.web.api.blueprint import API
from app.web.api.operations import COUNT, OPERATIONS, REF, TEXT, Parameter, Schema, reference

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
