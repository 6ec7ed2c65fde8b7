"""Shared behaviour of all routes of the JSON API: JSON bodies only, and errors as problem details (RFC 9457).

A browser sends JSON to another site only after asking it, so these routes need no CSRF token. Error messages are the
same as on the pages.
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from flask import Blueprint, Response, json, request
from werkzeug.exceptions import HTTPException, UnsupportedMediaType

from app.domain.errors import HopcheckError, InvalidInput
from app.runs.service import Rejected, Unreadable
from app.web.security import csrf

log = logging.getLogger(__name__)

API = "/api/v1"

METHODS_WITH_BODY = frozenset({"POST", "PUT"})

TOO_FAST = "Your address has started as many checks as it may for now."
RETRY_SECONDS = 30
"""Suggested wait after a failure of unknown length."""


def api_blueprint(name: str) -> Blueprint:
    """Return a blueprint for a group of API routes."""
    group = Blueprint(name, __name__)
    csrf.exempt(group)
    group.register_error_handler(InvalidInput, lambda error: problem(422, str(error), error.field))
    group.register_error_handler(Rejected, lambda error: problem(429, str(error), wait=error.retry_after))
    group.register_error_handler(Unreadable, lambda error: problem(501, str(error)))
    group.register_error_handler(HopcheckError, _unavailable)
    group.register_error_handler(HTTPException, problem_of)
    group.before_request(_require_json)
    return group


def problem(code: int, detail: str, field: str | None = None, wait: int | None = None) -> Response:
    """Return problem details: `detail` is one sentence, `field` the invalid input, `wait` the seconds until a retry."""
    required = {"type": "about:blank", "title": HTTPStatus(code).phrase, "status": code, "detail": detail}
    optional = {"field": field, "retry_after": wait}
    body = json.dumps({**required, **{name: value for name, value in optional.items() if value is not None}})
    headers = {"Cache-Control": "no-store", **({"Retry-After": str(wait)} if wait else {})}
    return Response(body, code, headers, mimetype="application/problem+json")


def problem_of(error: HTTPException) -> Response:
    """Convert an HTTP error to problem details."""
    detail = TOO_FAST if error.code == HTTPStatus.TOO_MANY_REQUESTS else error.description or ""
    answer = problem(error.code or 500, detail, wait=seconds_to_wait(error))
    for name, value in error.get_headers():
        if name in ("Allow", "WWW-Authenticate"):
            answer.headers[name] = value
    return answer


def seconds_to_wait(error: HTTPException) -> int | None:
    """Return the seconds in the error's Retry-After header, None without one."""
    return error.get_response().headers.get("Retry-After", type=int)


def _unavailable(error: HopcheckError) -> Response:
    """Log and report that a dependency, such as the database, cannot be used now."""
    log.error("%s %s: %s", request.method, request.endpoint, error)
    return problem(503, str(error), wait=RETRY_SECONDS)


def _require_json() -> None:
    if request.method in METHODS_WITH_BODY and request.mimetype != "application/json":
        raise UnsupportedMediaType("The body must be JSON, sent as application/json.")
