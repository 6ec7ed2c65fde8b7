"""Parse the JSON objects that programs send (schemas.py); an error is one sentence about the invalid field."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from flask import current_app, request
from itsdangerous import Signer
from pydantic import ValidationError
from werkzeug.exceptions import BadRequest

from app.batches.files import NO_CLAIMS, check_lines, line_of, title_of
from app.batches.service import BatchLine
from app.domain.errors import InvalidInput
from app.domain.model import RunOptions
from app.run_request import CLAIM_FIELDS, MAX_HOPS_REQUIRED, RunRequest, resolve_options
from app.web.api.schemas import NewBatch, NewRun, Request
from app.web.services import capabilities, services

SentFields = TypeVar("SentFields", bound=Request)

MISSING = {"claim": "Please write a claim.", "hop": "Choose the hop to go on from.", "claims": NO_CLAIMS}
"""Messages for required fields that are missing."""
WRONG = {
    "max_hops": MAX_HOPS_REQUIRED,
    "hop": "The hop must be its number, a whole one from 1 on.",
    "corpora": "corpora must be a list of names.",
}
"""Messages for invalid values, where the field's type alone would not explain enough."""


def sent(model: type[SentFields]) -> SentFields:
    """Return the fields of the request's JSON object; a null field counts as omitted, an empty body as no fields.

    Raises BadRequest for anything but a JSON object in UTF-8, InvalidInput for an unknown or invalid field.
    """
    try:
        text = request.get_data().decode("utf-8")
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
        raise _wrong(error) from None


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
    return lines, resolve_options(fields, capabilities()), title_of(title) or f"{len(lines):,} claims"


def _claim_fields(claim: Any) -> dict[str, str]:
    """Return the fields of one claim of a batch, which may be sent as plain text. Raises InvalidInput."""
    fields = {"claim": claim} if isinstance(claim, str) else claim
    if not isinstance(fields, dict) or "claim" not in fields or not set(fields) <= set(CLAIM_FIELDS):
        raise InvalidInput(f"Each claim must be text, or an object of {', '.join(CLAIM_FIELDS)}.", "claims")
    for name, value in fields.items():
        if not isinstance(value, str) and (value is not None or name == "claim"):
            raise InvalidInput(f"The {name} of each claim must be text.", "claims")
    return fields


def sent_key() -> str:
    """Return the signed Idempotency-Key of the request, "" without one.

    The id of the run or batch is derived from it. Signing prevents a guessable key from giving a guessable id.
    """
    key = request.headers.get("Idempotency-Key")
    return Signer(current_app.config["SECRET_KEY"], salt="idempotency").get_signature(key).decode() if key else ""


def check_after() -> None:
    """Raise InvalidInput if `?after=` is not an event's number, which the stream would treat as its beginning."""
    text = request.args.get("after")
    if text is not None and not (text.isascii() and text.isdigit()):
        raise InvalidInput("after must be the number of an event.", "after")


def _wrong(error: ValidationError) -> InvalidInput:
    """Return the first validation error as a sentence that names the field."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name, kind = str(fault["loc"][0]), fault["type"]
    if kind == "missing":
        return InvalidInput(MISSING[name], name)
    if kind == "string_unicode" and name not in WRONG:
        return InvalidInput(f"The {name} is not valid UTF-8 text.", name)
    return InvalidInput(
        WRONG.get(name) or f"{name} must be {'true or false' if kind == 'bool_type' else 'text'}.", name
    )


def _refuse(constant: str) -> NoReturn:
    """Reject NaN and the infinities, which Python parses although they are not JSON."""
    raise ValueError(constant)
