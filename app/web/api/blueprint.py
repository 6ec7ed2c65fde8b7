"""Request bodies, responses and errors (problem details, RFC 9457) of all routes of the JSON API.

These routes need no CSRF token: browsers send JSON to another site only if that site allows it (CORS). The error
messages are those of the pages.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from http import HTTPStatus
from typing import Any, NoReturn, TypeVar

from flask import Blueprint, Response, current_app, json, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import Signer
from pydantic import ValidationError
from werkzeug.exceptions import BadRequest, HTTPException, UnsupportedMediaType

from app.batches.files import NO_CLAIMS, check_lines, line_of
from app.domain.errors import HopcheckError, InvalidInput
from app.domain.model import RANGES, BatchLine, RunOptions
from app.domain.ports import RunCommand
from app.run_request import CLAIM_FIELDS, RunRequest, resolve_options
from app.runs.json_schema import as_json
from app.runs.projections import Cursor
from app.runs.service import Rejected, RunFilter, RunSummary, StoredRun, Unreadable
from app.runs.transfer import report_fields
from app.web import capabilities, services
from app.web.api.schemas import NewBatch, NewRun, Request, Run, RunList
from app.web.auth import stored_run
from app.web.observability import log_run
from app.web.pages.batches import batch_title
from app.web.pages.history import MAX_SEARCH, OUTCOMES, decode_cursor, encode_cursor
from app.web.security import csrf

log = logging.getLogger(__name__)

API = "/api/v1"

METHODS_WITH_BODY = frozenset({"POST", "PUT"})

TOO_FAST = "You have started as many checks as you may for now."
RETRY_SECONDS = 30
"""Suggested wait after a failure of unknown length."""


def api_blueprint(name: str) -> Blueprint:
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


SentFields = TypeVar("SentFields", bound=Request)

MISSING = {"claim": "Please write a claim.", "hop": "Choose the hop to continue from.", "claims": NO_CLAIMS}
"""Messages for required fields that are missing."""
INVALID = {
    **{name: str(limits) for name, limits in RANGES.items()},
    "hop": "hop must be the number of a hop, a whole number from 1.",
    "corpora": "corpora must be a list of names.",
}
"""Messages for invalid values, where the field's type alone would not explain enough."""


MAX_PARTS = 100_000
"""Lists and objects in one body; a million of them would keep the JSON parser busy for seconds."""


def sent(model: type[SentFields]) -> SentFields:
    """Return the fields of the request's JSON object; a null field counts as omitted, an empty body as {}.

    Raises BadRequest for anything but a JSON object in UTF-8, InvalidInput for an unknown or invalid field.
    """
    try:
        text = request.get_data().decode("utf-8")
        if text.count("[") + text.count("{") > MAX_PARTS:
            raise BadRequest(f"The body has more than {MAX_PARTS:,} lists and objects.")
        fields = json.loads(text, parse_constant=_refuse) if text else {}
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON in UTF-8.") from None
    if not isinstance(fields, dict):
        raise BadRequest("The body must be a JSON object.")
    known = model.model_fields
    for name in fields:
        if name not in known:
            raise InvalidInput(f"There is no field {name[:40]!r} here; the fields are: {', '.join(known)}.", name[:40])
    try:
        return model.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        raise _invalid_input(error) from None


def sent_run() -> RunRequest:
    """Return the claim and options of a run. Raises InvalidInput, naming the field, also for unavailable options."""
    return RunRequest.resolve(sent(NewRun).model_dump(exclude_none=True), capabilities())


def sent_batch() -> tuple[tuple[BatchLine, ...], RunOptions, str]:
    """Return the claims of a batch, the options as for a run, and a title. Raises InvalidInput, naming the field."""
    fields = {name: value for name, value in sent(NewBatch) if value is not None}
    claims, title = fields.pop("claims"), fields.pop("title", "")
    if not isinstance(claims, list):
        raise InvalidInput("claims must be a list.", "claims")
    read = (line_of(number, _claim_fields(each)) for number, each in enumerate(claims, 1))
    lines = check_lines(read, services().settings.batch_claims)
    return lines, resolve_options(fields, capabilities()), batch_title(lines, title)


def _claim_fields(claim: Any) -> dict[str, str]:
    """Return the fields of one claim of a batch, which may be sent as plain text. Raises InvalidInput."""
    fields = {"claim": claim} if isinstance(claim, str) else claim
    if not isinstance(fields, dict) or "claim" not in fields or not set(fields) <= set(CLAIM_FIELDS):
        raise InvalidInput(f"Each claim must be text, or an object of {', '.join(CLAIM_FIELDS)}.", "claims")
    for name, value in fields.items():
        if not isinstance(value, str) and (value is not None or name == "claim"):
            raise InvalidInput(f"In each claim, {name} must be text.", "claims")
    return fields


def sent_key() -> str:
    """Return a signature of the request's Idempotency-Key, "" without one.

    The id of the run or batch is derived from it. Signing prevents a guessable key from giving a guessable id.
    """
    key = request.headers.get("Idempotency-Key")
    return Signer(current_app.config["SECRET_KEY"], salt="idempotency").get_signature(key).decode() if key else ""


def check_after() -> None:
    """Raise InvalidInput if `?after=` is not a number, which the stream would take for its beginning."""
    text = request.args.get("after")
    if text is not None and not (text.isascii() and text.isdigit()):
        raise InvalidInput("after must be the number of an event.", "after")


def _invalid_input(error: ValidationError) -> InvalidInput:
    """Return the first validation error as a sentence that names the field."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name, kind = str(fault["loc"][0]), fault["type"]
    if kind == "missing":
        return InvalidInput(MISSING[name], name)
    if kind == "string_unicode" and name not in INVALID:
        return InvalidInput(f"The {name} is not valid UTF-8 text.", name)
    return InvalidInput(
        INVALID.get(name) or f"{name} must be {'true or false' if kind == 'bool_type' else 'text'}.", name
    )


def _refuse(constant: str) -> NoReturn:
    """Reject NaN and the infinities, which Python parses although they are not JSON."""
    raise ValueError(constant)


def run_response(run: StoredRun) -> Response:
    """Return the exported run with its current state: queue position, pending request to conclude, publication."""
    place = None if run.report.ended else services().runs.place(run.id)
    answer = Run(
        **report_fields(run),
        place=place,
        concluding=run.command is RunCommand.FINISH_NOW,
        published_at=run.published_at,
        taken_down=run.taken_down_at is not None,
    )
    response = jsonify(as_json(answer))
    response.headers["Cache-Control"] = "no-store"
    return response


def created_run(run_id: str) -> ResponseReturnValue:
    """Return 201 with the run that this request, or its first sending, created, and its address."""
    log_run(run_id)
    return run_response(stored_run(run_id)), 201, {"Location": url_for("api_runs.read", run_id=run_id)}


MAX_LISTED = 100
DEFAULT_LISTED = 20
LIMIT_SCHEMA = {"type": "integer", "minimum": 1, "maximum": MAX_LISTED, "default": DEFAULT_LISTED}
"""The JSON Schema of `limit`."""


def sent_limit() -> int:
    """Return the length of the list. Raises InvalidInput for anything but a number from 1 to 100."""
    text = request.args.get("limit", str(DEFAULT_LISTED))
    if text not in {str(number) for number in range(1, MAX_LISTED + 1)}:
        raise InvalidInput(f"The limit must be a whole number from 1 to {MAX_LISTED}.", "limit")
    return int(text)


def sent_cursor() -> Cursor | None:
    """Return the position after which the list continues, None for its beginning. Raises InvalidInput."""
    text = request.args.get("cursor")
    return None if text is None else decode_cursor(text)


def list_filters() -> RunFilter:
    """Return the filters of the list. Raises InvalidInput for an unknown outcome or answerer, or too long a search."""
    words = request.args.get("q", "")
    if len(words) > MAX_SEARCH:
        raise InvalidInput(f"The search has {len(words)} characters; at most {MAX_SEARCH} are allowed.", "q")
    answerers = [each.name for each in capabilities().answerers]
    return RunFilter(words, one_of("label", OUTCOMES), one_of("answerer", answerers))


def one_of(name: str, known: Collection[str]) -> str:
    """Return the value of a query parameter, "" if omitted. Raises InvalidInput if it is not in `known`."""
    value = request.args.get(name)
    if value is None:
        return ""
    if value not in known:
        raise InvalidInput(f"{name} must be one of: {', '.join(known)}.", name)
    return value


def paginated_response(found: Sequence[RunSummary], limit: int) -> Response:
    """Return the first `limit` runs, with a cursor where `found` contains more."""
    page = found[:limit]
    return list_response(page, encode_cursor(page[-1].created_at, page[-1].id) if len(found) > limit else None)


def list_response(runs: Sequence[RunSummary], following: str | None = None) -> Response:
    """Return these runs; `following` is the cursor of the next page."""
    return jsonify(as_json(RunList(tuple(runs), following)))
