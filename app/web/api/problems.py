"""Errors of the JSON API as problem details (RFC 9457, application/problem+json).

`title` is the status in words, `detail` one sentence on what happened, `field` the input that is at fault where one is,
and `retry_after` the seconds after which to come again. The sentences are those of the page.
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from flask import Blueprint, Response, json, request
from werkzeug.exceptions import HTTPException

from app.domain.errors import HopcheckError, InvalidInput
from app.runs.service import TurnedAway, Unreadable

log = logging.getLogger(__name__)

API = "/api/v1"

TOO_FAST = "Your address has started as many checks as it may for now."
RETRY_SECONDS = 30
"""When to come again after what mends itself or needs the operator; nobody knows how long that takes."""


def tell_problems(api: Blueprint) -> None:
    """Answer every error of this blueprint with problem details."""
    api.register_error_handler(InvalidInput, lambda error: problem(422, str(error), error.field))
    api.register_error_handler(TurnedAway, lambda error: problem(429, str(error), wait=error.retry_after))
    api.register_error_handler(Unreadable, lambda error: problem(501, str(error)))
    api.register_error_handler(HopcheckError, _not_now)
    api.register_error_handler(HTTPException, problem_of)


def problem(code: int, detail: str, field: str | None = None, wait: int | None = None) -> Response:
    """Problem details as an answer; `wait` is when to come again, in seconds."""
    told = {"type": "about:blank", "title": HTTPStatus(code).phrase, "status": code, "detail": detail}
    more = {"field": field, "retry_after": wait}
    body = json.dumps({**told, **{name: value for name, value in more.items() if value is not None}})
    headers = {"Cache-Control": "no-store", **({"Retry-After": str(wait)} if wait else {})}
    return Response(body, code, headers, mimetype="application/problem+json")


def problem_of(error: HTTPException) -> Response:
    """The problem that an HTTP error is."""
    detail = TOO_FAST if error.code == HTTPStatus.TOO_MANY_REQUESTS else error.description or ""
    answer = problem(error.code or 500, detail, wait=seconds_to_wait(error))
    for name, value in error.get_headers():
        if name in ("Allow", "WWW-Authenticate"):
            answer.headers[name] = value
    return answer


def seconds_to_wait(error: HTTPException) -> int | None:
    """Return the seconds in the error's Retry-After header, None without one."""
    return error.get_response().headers.get("Retry-After", type=int)


def _not_now(error: HopcheckError) -> Response:
    """Something that Hopcheck leans on cannot be used now; the error says what and why."""
    log.error("%s %s: %s", request.method, request.endpoint, error)
    return problem(503, str(error), wait=RETRY_SECONDS)
