"""Ids of runs and batches. A form that is sent twice, by a double click for example, leads to the same id."""

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
    """Return a new id: 128 random bits, safe in a URL."""
    return secrets.token_urlsafe(BITS // 8)


def is_invalid_id(text: str) -> bool:
    """Return whether no run can have this id: PostgreSQL refuses queries with a NUL character."""
    return "\0" in text


def id_for_form(owner: str, form: str, begins: Sequence[Event]) -> str:
    """Return the id of the run that `owner` starts by sending a form; the same content gets the same id again.

    It is as hard to guess as a new one, because the names of owner and form are secrets of 128 random bits each. A form
    that was changed before it was sent again has other first events and so another id.
    """
    content = json.dumps([owner, form, *map(encode, begins)], sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(content.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest[: BITS // 8]).rstrip(b"=").decode("ascii")
