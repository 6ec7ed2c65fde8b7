"""One form, one run: what is sent twice, by a double click for one, leads to the run that it started first."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Sequence

from app.domain.events import Event
from app.runs.event_store import encode

BITS = 128


def new_id() -> str:
    """A new run's id: 128 random bits, safe in a URL."""
    return secrets.token_urlsafe(BITS // 8)


def is_no_id(text: str) -> bool:
    """Whether no run has this id for sure. PostgreSQL refuses to look for it."""
    return "\0" in text


def id_of_form(owner: str, form: str, begins: Sequence[Event]) -> str:
    """The id of the run that `owner` begins like this with the form of that name; the same again has the same id.

    It is as hard to guess as another: an owner's name and a form's are 128 random bits each, and told to nobody else.
    What begins otherwise, because the form was changed before it was sent again, is another run.
    """
    said = json.dumps([owner, form, *map(encode, begins)], sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(said.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest[: BITS // 8]).rstrip(b"=").decode("ascii")
