"""What operations of the OpenAPI document are put together from."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from app.web.api.lists import LIMIT
from app.web.api.schemas.parts import ref, text

Operation = dict[str, Any]
PathItem = dict[str, Any]
Answers = dict[int, dict[str, Any]]

TOKEN_OR_COOKIE: list[dict[str, list[str]]] = [{"token": []}, {"cookie": []}]
RUN_ID = {"name": "run_id", "in": "path", "required": True, "schema": text(), "description": "The run's id."}

ONCE = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": text(),
    "description": "Any text: the same request with the same one, sent again, leads to what it made first.",
}

BY_ID = (404, 501, 503)
"""What a run may be refused with to whoever has its id."""

OWNED = (401, *BY_ID)
"""The same where it is asked for as its owner."""

STEERED = (400, 409, 413, 415, 422, *OWNED)
"""The same where something is sent that changes the run."""


def operation(
    name: str,
    summary: str,
    answers: Answers,
    about: str = "",
    problems: tuple[int, ...] = (),
    body: str = "",
    owned: bool = False,
    parameters: tuple[dict[str, Any], ...] = (),
) -> Operation:
    """One operation; `body` names the schema of what is sent, `owned` says that it is for a run's owner."""
    refusals = {code: _problem(code) for code in problems}
    made: Operation = {
        "operationId": name,
        "summary": summary,
        "responses": {str(code): answer for code, answer in sorted({**answers, **refusals}.items())},
    }
    if about:
        made["description"] = about
    if body:
        content = {"application/json": {"schema": ref(body)}}
        made["requestBody"] = {"required": body != "Nothing", "content": content}
    if owned:
        made["security"] = TOKEN_OR_COOKIE
    if parameters:
        made["parameters"] = list(parameters)
    return made


def steering(name: str, summary: str, about: str, told_of: str = "The run.") -> Operation:
    """What changes a run of the asker's, with nothing sent but the wish, and tells the run."""
    return operation(name, summary, {200: told(told_of, "Run")}, about, STEERED, body="Nothing", owned=True)


def of_a_run(**methods: Operation) -> PathItem:
    """The operations of an address with a run's id in it."""
    return {"parameters": [RUN_ID], **methods}


def in_query(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    """A parameter that may be left out."""
    return {"name": name, "in": "query", "schema": schema, "description": description}


AT_MOST = in_query("limit", LIMIT, "How many at most.")

LISTING = (AT_MOST, in_query("cursor", text(), "The next of the list before."))
"""What every long list takes."""


def told(description: str, schema: str) -> dict[str, Any]:
    """An answer in JSON of that schema."""
    return of_type("application/json", description, ref(schema))


def of_type(media: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    """An answer of that media type."""
    return {"description": description, "content": {media: {"schema": schema}}}


def new_run() -> Answers:
    """The answer of what makes a run."""
    return {201: {**told("The new run.", "Run"), "headers": {"Location": {"schema": text()}}}}


def _problem(code: int) -> dict[str, Any]:
    return of_type("application/problem+json", f"{HTTPStatus(code).phrase}.", ref("Problem"))
