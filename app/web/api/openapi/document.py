"""The OpenAPI 3.1 document of the JSON API: what can be asked, and every answer that may come."""

from __future__ import annotations

from functools import cache
from typing import Any

from app.web.api.openapi.batches import batch_paths
from app.web.api.openapi.keeping import keeping_paths
from app.web.api.openapi.parts import Operation, PathItem, of_type, operation, told
from app.web.api.openapi.reports import report_paths
from app.web.api.openapi.runs import run_paths
from app.web.api.problems import API
from app.web.api.schemas.batches import batch_schemas
from app.web.api.schemas.parts import text
from app.web.api.schemas.reports import report_schemas
from app.web.api.schemas.runs import run_schemas
from app.web.api.schemas.sent import sent_schemas
from app.web.api.schemas.site import site_schemas

ABOUT = (
    "Check a claim one question at a time, with the evidence for every answer. What a page of this site does, a "
    "program can do here. Errors are problem details (RFC 9457). Where tokens are set up, starting, listing and "
    "steering runs need one; elsewhere runs belong to the session cookie that starting the first one sets. Reading and "
    "following a run are open to whoever has its id."
)


@cache
def document() -> dict[str, Any]:
    """The document; the same object each time, so leave it as it is."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hopcheck", "version": "1", "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "paths": {**_api_paths(), "/healthz": {"get": _alive()}, "/readyz": {"get": _ready()}},
        "components": {
            "schemas": {**run_schemas(), **sent_schemas(), **report_schemas(), **batch_schemas(), **site_schemas()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "hopcheck"},
            },
        },
    }


def _api_paths() -> dict[str, PathItem]:
    """The API's own addresses; one that several topics know has the methods of all."""
    paths: dict[str, PathItem] = {}
    for path, item in (*run_paths().items(), *batch_paths().items(), *keeping_paths().items(), *report_paths().items()):
        paths.setdefault(API + path, {}).update(item)
    return paths


def _alive() -> Operation:
    return operation("alive", "Whether the process lives", {200: of_type("text/plain", "It does.", text())})


def _ready() -> Operation:
    answers = {200: told("They can.", "Readiness"), 503: told("Something is missing or still loading.", "Readiness")}
    return operation("ready", "Whether runs can be carried out now", answers)
