"""The OpenAPI 3.1 document of the JSON API: what can be asked, and every answer that may come."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

from app.web.api_input import MOST_LISTED, USUALLY_LISTED
from app.web.api_problems import API
from app.web.api_schemas import ref, schemas, text

Operation = dict[str, Any]

TOKEN_OR_COOKIE: list[dict[str, list[str]]] = [{"token": []}, {"cookie": []}]
ABOUT = (
    "Check a claim one question at a time, with the evidence for every answer. What a page of this site does, a "
    "program can do here. Errors are problem details (RFC 9457). Where tokens are set up, starting, listing and "
    "steering runs need one; elsewhere runs belong to the session cookie that starting the first one sets. Reading and "
    "following a run are open to whoever has its id."
)
RUN_ID = {"name": "run_id", "in": "path", "required": True, "schema": text(), "description": "The run's id."}
LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "default": USUALLY_LISTED}
STREAM = (
    "Server-sent events. A message without a name is one stored event (schema StoredEvent) whose id is its number; it "
    'stands once for all, so what comes twice may be dropped. Messages named "place" tell the place of a run that '
    'waits. Comments keep the connection open. The last message is named "end"; a stream that closes without it is '
    "asked for again with Last-Event-ID."
)


@cache
def document() -> dict[str, Any]:
    """The document; the same object each time, so leave it as it is."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hopcheck", "version": "1", "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": API}],
        "paths": {
            "/choices": {"get": _choices()},
            "/runs": {"get": _list(), "post": _start()},
            "/runs/{run_id}": {"parameters": [RUN_ID], "get": _read()},
            "/runs/{run_id}/events": {"parameters": [RUN_ID], "get": _follow()},
            "/runs/{run_id}/stop": {"parameters": [RUN_ID], "post": _stop()},
            "/runs/{run_id}/conclude": {"parameters": [RUN_ID], "post": _conclude()},
            "/runs/{run_id}/branch": {"parameters": [RUN_ID], "post": _branch()},
            "/runs/{run_id}/branches": {"parameters": [RUN_ID], "get": _branches()},
        },
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "hopcheck"},
            },
        },
    }


def _choices() -> Operation:
    return _operation("choices", "What a run can be made of here", {200: _json("The choices.", "Choices")})


def _start() -> Operation:
    about = (
        "What is left out is as the settings have it; /choices says what can be chosen, and who then gets the claim."
    )
    return _operation(
        "start", "Start a run", _made(), about, (400, 401, 413, 415, 422, 429, 503), body="NewRun", owned=True
    )


def _list() -> Operation:
    parameters = [
        {"name": "limit", "in": "query", "schema": LIMIT, "description": "How many at most."},
        {"name": "cursor", "in": "query", "schema": text(), "description": "The next of the list before."},
    ]
    answers = {200: _json("The runs, newest first.", "RunList")}
    operation = _operation("list", "List your runs", answers, problems=(401, 422, 503), owned=True)
    return {**operation, "parameters": parameters}


def _read() -> Operation:
    answers = {200: _json("The run.", "Run")}
    return _operation("read", "Read a run as it stands", answers, problems=(404, 501, 503))


def _follow() -> Operation:
    parameters = [
        {"name": "after", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "The last seen."},
        {"name": "Last-Event-ID", "in": "header", "schema": text(), "description": "The same, and it goes first."},
    ]
    answers = {200: {"description": "The events.", "content": {"text/event-stream": {"schema": text()}}}}
    operation = _operation("follow", "Follow a run", answers, STREAM, (404, 501, 503))
    return {**operation, "parameters": parameters}


def _stop() -> Operation:
    answers = {200: _json("The run, which has ended.", "Run")}
    about = "Ends a run of yours at once. Finished hops stand, the one under way is marked as interrupted."
    return _operation("stop", "Stop a run", answers, about, STEERED, body="Nothing", owned=True)


def _conclude() -> Operation:
    answers = {200: _json("The run, which concludes at its next step.", "Run")}
    about = "Asks for a verdict from what a run of yours has kept; 409 while nothing has been kept."
    return _operation("conclude", "Conclude a run now", answers, about, STEERED, body="Nothing", owned=True)


def _branch() -> Operation:
    about = (
        "Starts a run that goes on from a hop of a run of yours, which must have ended: with another question in the "
        "hop's place, or none, or another answerer from there on. The hops before it stand; no model is called for "
        "them again. What came after it is not in the new run, and the earlier one stays as it is."
    )
    problems = (*STEERED, 413, 429)
    return _operation("branch", "Go on from a hop", _made(), about, problems, body="NewBranch", owned=True)


def _branches() -> Operation:
    answers = {200: _json("The runs, oldest first; all of them, so there is no next.", "RunList")}
    return _operation("branches", "List the branches of a run", answers, problems=(401, 404, 501, 503), owned=True)


STEERED = (400, 401, 404, 409, 415, 422, 501, 503)


def _operation(
    name: str,
    summary: str,
    answers: dict[int, dict],
    about: str = "",
    problems: tuple[int, ...] = (),
    body: str = "",
    owned: bool = False,
) -> Operation:
    """One operation; `body` names the schema of what is sent, `owned` says that it is for a run's owner."""
    refusals = {code: _problem(code) for code in problems}
    operation: Operation = {
        "operationId": name,
        "summary": summary,
        "responses": {str(code): answer for code, answer in {**answers, **refusals}.items()},
    }
    if about:
        operation["description"] = about
    if body:
        operation["requestBody"] = {
            "required": body != "Nothing",
            "content": {"application/json": {"schema": ref(body)}},
        }
    if owned:
        operation["security"] = TOKEN_OR_COOKIE
    return operation


def _json(description: str, schema: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": ref(schema)}}}


def _made() -> dict[int, dict]:
    """A run was made."""
    return {201: {**_json("The new run.", "Run"), "headers": {"Location": {"schema": text()}}}}


def _problem(code: int) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": ref("Problem")}}
    return {"description": f"{HTTPStatus(code).phrase}.", "content": content}
