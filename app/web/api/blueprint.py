"""The operations of the JSON API: routes whose part of the OpenAPI document is derived from their annotations.

They need no CSRF token: browsers send JSON to another site only if that site allows it (CORS). Errors are problem
details (RFC 9457), with the messages of the pages.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from http import HTTPStatus
from types import NoneType
from typing import Any, TypeVar, get_type_hints

from flask import Blueprint, Response, current_app, json, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import Signer
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from werkzeug.exceptions import BadRequest, HTTPException, UnsupportedMediaType

from app.domain.errors import HopcheckError, InvalidInput, NotNow, NotThere
from app.domain.messages import Words
from app.runs.json_schema import as_json, json_schemas
from app.runs.service import Rejected, Unreadable
from app.web.api.schemas import INVALID, MAX_HOP_NUMBER
from app.web.auth import current_principal
from app.web.security import csrf

log = logging.getLogger(__name__)

Schema = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)
View = TypeVar("View", bound=Callable[..., Any])

API = "/api/v1"
REF = "#/components/schemas/{model}"
TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}

TOO_FAST = Words("You have started as many checks as you may for now.")
RETRY_SECONDS = 30
"""Suggested wait after a failure of unknown length."""

REPEATED = "Any text. A repeated request with the same key returns the run or batch that the first one created."

api = Blueprint("api", __name__)
csrf.exempt(api)


def problem(code: int, detail: str, field: str | None = None, wait: int | None = None) -> Response:
    """Return problem details: `detail` is one sentence, `field` the invalid input, `wait` the seconds until a retry."""
    required = {"type": "about:blank", "title": HTTPStatus(code).phrase, "status": code, "detail": detail}
    optional = {"field": field, "retry_after": wait}
    body = json.dumps({**required, **{name: value for name, value in optional.items() if value is not None}})
    headers = {"Cache-Control": "no-store", **({"Retry-After": str(wait)} if wait else {})}
    return Response(body, code, headers, mimetype="application/problem+json")


@api.errorhandler(HTTPException)
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


@api.errorhandler(HopcheckError)
def _unavailable(error: HopcheckError) -> Response:
    log.error("%s %s: %s", request.method, request.endpoint, error)
    return problem(503, str(error), wait=RETRY_SECONDS)


@api.errorhandler(InvalidInput)
def _refused(error: InvalidInput) -> Response:
    code = status_of(error)
    return problem(code, str(error), error.field if code == HTTPStatus.UNPROCESSABLE_ENTITY else None)


def status_of(error: InvalidInput) -> int:
    """Return the status code of a refused request, for pages and programs."""
    return 409 if isinstance(error, NotNow) else 404 if isinstance(error, NotThere) else 422


api.register_error_handler(Rejected, lambda error: problem(429, str(error), wait=error.retry_after))
api.register_error_handler(Unreadable, lambda error: problem(501, str(error)))


@api.before_request
def _require_json() -> None:
    if request.method in ("POST", "PUT") and request.mimetype != "application/json":
        raise UnsupportedMediaType("The body must be JSON, sent as application/json.")


def sent_key() -> str:
    """Return a signature of the request's Idempotency-Key, "" without one.

    The id of the run or batch is derived from it. Signing prevents a guessable key from giving a guessable id.
    """
    key = request.headers.get("Idempotency-Key")
    return Signer(current_app.config["SECRET_KEY"], salt="idempotency").get_signature(key).decode() if key else ""


MAX_PARTS = 100_000
"""Lists and objects in one body; a million of them would keep the JSON parser busy for seconds."""


def _body(model: type[Model]) -> Model:
    """Return the request's JSON object; an empty body counts as {}. Raises BadRequest and InvalidInput."""
    sent = request.get_data() or b"{}"
    if sent.count(b"[") + sent.count(b"{") > MAX_PARTS:
        raise BadRequest(f"The body has more than {MAX_PARTS:,} lists and objects.")
    try:
        fields = from_json(sent)
    except ValueError:
        raise BadRequest("The body is not JSON in UTF-8.") from None
    if not isinstance(fields, dict):
        raise BadRequest("The body must be a JSON object.")
    for name in fields.keys() - model.model_fields.keys():  # pydantic would keep an error for each of a million
        known = ", ".join(model.model_fields)
        raise InvalidInput(f"There is no field {name[:40]!r} here; the fields are: {known}.", name[:40])
    return _validated(lambda: model.model_validate_json(sent))


def _query(model: type[Model]) -> Model:
    lists = {name for name, each in model.model_fields.items() if each.annotation == list[str]}
    sent = {name: request.args[name] for name in model.model_fields if name in request.args}
    return _validated(lambda: model.model_validate(sent | {name: request.args.getlist(name) for name in lists}))


def _validated(validate: Callable[[], Model]) -> Model:
    try:
        return validate()
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name, message = str(fault["loc"][0]), fault["msg"].removeprefix("Value error, ")
    raise InvalidInput(INVALID.get(name) or f"{name}: {message[:1].lower()}{message[1:]}.", name)


@dataclass(frozen=True)
class Operation:
    """One operation, with what its function's annotations and docstring do not say."""

    method: str
    path: str
    tag: str
    function: Callable[..., Any]
    owned: bool = False
    """Whether it needs a token or the cookie."""
    status: int = 200
    errors: tuple[int, ...] = ()
    """Statuses of problems, besides those that the route, the body and the query imply."""
    content: tuple[str, Schema] | None = None
    """Media type and schema of a response that is not JSON."""
    raw_body: str = ""
    """The name of the schema of a body that the function reads itself."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Request headers with their descriptions."""
    name: str = ""
    """Its id in the document, by default derived from the function's name."""
    about: str = ""
    """Its summary and description, by default the function's docstring."""

    @property
    def id(self) -> str:
        return self.name or re.sub("_(.)", lambda found: found[1].upper(), self.function.__name__)

    @property
    def types(self) -> dict[str, Any]:
        """Return the types of `body`, `query` and `return`, where the function has them."""
        return get_type_hints(self.function)

    def to_openapi(self) -> Schema:
        summary, _, description = (self.about or self.function.__doc__ or "").partition("\n")
        answer = self.types["return"]
        body = self.types.get("body")
        body_name = body.__name__ if body else self.raw_body
        responses: dict[int, Schema] = {self.status: {"description": f"{HTTPStatus(self.status).phrase}."}}
        if self.content:
            responses[self.status]["content"] = {self.content[0]: {"schema": self.content[1]}}
        elif answer is not NoneType:
            responses[self.status]["content"] = {"application/json": {"schema": reference(answer.__name__)}}
        if self.status == HTTPStatus.CREATED:
            responses[self.status]["headers"] = {"Location": {"schema": TEXT}}
        for code in self._error_statuses():
            media = {"application/problem+json": {"schema": reference("Problem")}}
            responses[code] = {"description": f"{HTTPStatus(code).phrase}.", "content": media}
        operation: Schema = {
            "tags": [self.tag],
            "operationId": self.id,
            "summary": summary.removesuffix("."),
            "responses": {str(code): responses[code] for code in sorted(responses)},
        }
        if description.strip():
            operation["description"] = " ".join(description.split())
        if body_name:
            media = {"application/json": {"schema": reference(body_name)}}
            operation["requestBody"] = {"required": True, "content": media}
        if self.owned:
            operation["security"] = [{"token": []}, {"cookie": []}]
        if parameters := self._parameters():
            operation["parameters"] = parameters
        return operation

    def _error_statuses(self) -> set[int]:
        implied = {
            503: True,
            401: self.owned,
            404: "<" in self.path,
            409: "<" in self.path and self.method in ("post", "put"),
            413: "body" in self.types,
            415: "body" in self.types,
            400: "body" in self.types,
            422: "body" in self.types or "query" in self.types,
            429: self.status == HTTPStatus.CREATED,
            501: "<run_id>" in self.path,
        }
        return {code for code, is_implied in implied.items() if is_implied and self.path.startswith(API)} | {
            *self.errors
        }

    def _parameters(self) -> list[Schema]:
        found = []
        if query := self.types.get("query"):
            schema = json_schemas([query], REF)[query.__name__]
            found = [parameter(name, "query", each) for name, each in schema["properties"].items()]
        return found + [parameter(name, "header", TEXT | {"description": each}) for name, each in self.headers.items()]


def parameter(name: str, place: str, schema: Schema) -> Schema:
    """Return an OpenAPI Parameter Object. It is required in a path and where it is a list, and never null."""
    kind = {key: each for key, each in schema.items() if key != "description"}
    if alternatives := [each for each in kind.pop("anyOf", ()) if each != {"type": "null"}]:
        kind |= alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    required = {"required": True} if place == "path" or kind.get("type") == "array" else {}
    return {"name": name, "in": place, "schema": kind, "description": schema["description"], **required}


def reference(name: str) -> Schema:
    return {"$ref": REF.format(model=name)}


PATH_PARAMETERS = {
    "run_id": TEXT | {"description": "The run's id."},
    "batch_id": TEXT | {"description": "The batch's id."},
    "hop": COUNT | {"maximum": MAX_HOP_NUMBER, "description": "The number of the hop, 0 for the verdict."},
}
OPERATIONS: list[Operation] = []
"""All operations, in the order of the document."""


def operation(route: str, tag: str, **details: Any) -> Callable[[View], View]:
    """Make the decorated function the operation of a route, such as "get /runs/<run_id>", with fields of Operation.

    It gets the path's parameters and, where it has an argument of that name, a validated `body` and `query`. It returns
    a dataclass, which is sent as JSON, None for 204, or a response. A created object is sent with its address.
    """

    def register(view: View) -> View:
        method, path = route.split()
        each = Operation(method, API + path, tag, view, **details)
        OPERATIONS.append(each)
        types = each.types

        @wraps(view)
        def respond(**named: Any) -> ResponseReturnValue:
            if each.owned:
                current_principal()
            if "query" in types:
                named["query"] = _query(types["query"])
            if "body" in types:
                named["body"] = _body(types["body"])
            answer = view(**named)
            if answer is None or isinstance(answer, Response):
                return answer or ("", HTTPStatus.NO_CONTENT)
            created = {}
            if each.status == HTTPStatus.CREATED:
                kind = type(answer).__name__
                created["Location"] = url_for(f"api.read{kind}", **{f"{kind.lower()}_id": answer.id})
            return jsonify(as_json(answer)), each.status, created

        api.add_url_rule(each.path, each.id, respond, methods=[method.upper()])
        return view

    return register
