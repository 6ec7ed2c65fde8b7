"""What a program sends: one JSON object, each field known and of its kind, or the field that is wrong and why."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from flask import current_app, request
from itsdangerous import Signer
from werkzeug.exceptions import BadRequest

from app.config.settings import MOST_HOPS
from app.domain.errors import InvalidInput
from app.domain.model import RunOptions
from app.run_request import CLAIM_FIELDS, MAX_HOPS_REQUIRED, RunRequest, resolve_options
from app.runs.batch_files import checked, line_of, title_of
from app.runs.batches import BatchLine
from app.web.current import capabilities, hopcheck

NAME_FIELDS = ("strategy", "preset", "answerer", "search", "model", "labels")
SWITCHES = ("fresh", "undated", "fact_checks")
BRANCH_FIELDS = ("hop", "question", "leave_out", "answerer")
NOTE_FIELDS = ("agrees", "text")
BATCH_FIELDS = ("claims", "title", *NAME_FIELDS, "corpora", "max_hops", *SWITCHES)
RUN_FIELDS = (*CLAIM_FIELDS, *NAME_FIELDS, "corpora", "max_hops", *SWITCHES)

HIGHEST_HOP = 999
"""No run has so many; a longer number is not worth reading."""


def sent_object(known: Collection[str]) -> dict[str, Any]:
    """The fields of the request's JSON object; a field that is null counts as left out, no body as no fields.

    Raises BadRequest for what is no JSON object in UTF-8, InvalidInput for a field that is not known.
    """
    try:
        text = request.get_data().decode("utf-8")
        sent = json.loads(text, parse_constant=_refuse) if text else {}
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON in UTF-8.") from None
    if not isinstance(sent, dict):
        raise BadRequest("The body must be a JSON object.")
    for name in sent:
        if name not in known:
            raise InvalidInput(f"There is no field {name[:40]!r} here; the fields are: {', '.join(known)}.", name[:40])
    return {name: value for name, value in sent.items() if value is not None}


def sent_run() -> RunRequest:
    """The claim and the options of a run. Raises InvalidInput, which names the field, also for what cannot run here."""
    return RunRequest.resolve(_fields(RUN_FIELDS), capabilities())


def sent_batch() -> tuple[tuple[BatchLine, ...], RunOptions, str]:
    """The claims of a batch, the options as for a run, and a title. Raises InvalidInput, which names the field."""
    sent = _fields(BATCH_FIELDS)
    claims = sent.pop("claims", [])
    read = (line_of(number, _claim_fields(each)) for number, each in enumerate(claims, 1))
    lines = checked(read, hopcheck().settings.batch_claims)
    title = title_of(sent.pop("title", "")) or f"{len(lines):,} claims"
    return lines, resolve_options(sent, capabilities()), title


def _claim_fields(claim: Any) -> dict[str, str]:
    """The fields of one claim of a batch, which may be sent as text alone. Raises InvalidInput."""
    fields = {"claim": claim} if isinstance(claim, str) else claim
    if not isinstance(fields, dict) or "claim" not in fields or not set(fields) <= set(CLAIM_FIELDS):
        raise InvalidInput(f"Each claim must be text, or an object of {', '.join(CLAIM_FIELDS)}.", "claims")
    for name, value in fields.items():
        if not isinstance(value, str) and (value is not None or name == "claim"):
            raise InvalidInput(f"The {name} of each claim must be text.", "claims")
    return fields


def sent_key() -> str:
    """What stands for the request's Idempotency-Key, "" without one.

    The id of the run or batch is made of it, so the key is signed: one that is easy to guess makes no id that is.
    """
    key = request.headers.get("Idempotency-Key")
    return Signer(current_app.config["SECRET_KEY"], salt="idempotency").get_signature(key).decode() if key else ""


@dataclass(frozen=True, slots=True)
class SentBranch:
    """How to go on from a hop. No question means the hop's own, "" for the answerer the run's own."""

    hop: int
    question: str | None = None
    leave_out: bool = False
    answerer: str = ""


def sent_branch() -> SentBranch:
    """What a branch is to be. Raises InvalidInput, which names the field."""
    sent = _fields(BRANCH_FIELDS)
    if "hop" not in sent:
        raise InvalidInput("Choose the hop to go on from.", "hop")
    return SentBranch(**sent)


@dataclass(frozen=True, slots=True)
class SentNote:
    """What is thought of a hop; `agrees` is None for no side."""

    agrees: bool | None = None
    text: str = ""


def sent_note() -> SentNote:
    """What a note says. Raises InvalidInput, which names the field."""
    return SentNote(**_fields(NOTE_FIELDS))


def check_after() -> None:
    """Raise InvalidInput where `?after=` is no event's number; whoever reads the stream takes that for the start."""
    text = request.args.get("after")
    if text is not None and not (text.isascii() and text.isdigit()):
        raise InvalidInput("after must be the number of an event.", "after")


def _fields(known: Collection[str]) -> dict[str, Any]:
    """The fields that were sent, each of its kind. Raises what `sent_object` raises, and InvalidInput."""
    sent = sent_object(known)
    for name, value in sent.items():
        _check_kind(name, value)
    return sent


def _check_kind(name: str, value: Any) -> None:
    """Raise InvalidInput for a value that is not of its field's kind; that it means something is for others to say."""
    if name == "claims":
        if not isinstance(value, list):
            raise InvalidInput("claims must be a list.", name)
    elif name == "corpora":
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InvalidInput("corpora must be a list of names.", name)
    elif name == "max_hops":
        if not _is_number(value, MOST_HOPS):
            raise InvalidInput(MAX_HOPS_REQUIRED, name)
    elif name == "hop":
        if not _is_number(value, HIGHEST_HOP):
            raise InvalidInput("The hop must be its number, a whole one from 1 on.", name)
    elif name in (*SWITCHES, "leave_out", "agrees"):
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false.", name)
    elif not isinstance(value, str):
        raise InvalidInput(f"{name} must be text.", name)


def _is_number(value: Any, highest: int) -> bool:
    return type(value) is int and 1 <= value <= highest  # True is an int, but not by its type


def _refuse(constant: str) -> NoReturn:
    """NaN and the infinities, which Python reads and JSON has not."""
    raise ValueError(constant)
