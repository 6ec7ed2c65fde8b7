"""Authentication of API requests by bearer token or session cookie, and access to the runs of the principal.

Tokens are shown once, and stored as SHA-256 hashes in a file that the operator writes. A line of that file is
`name:hash`; empty lines and those that start with # are ignored. The file is read for every request with a token, so
that a removed token stops working at once. Tokens have 256 random bits, so that a plain hash is enough.
"""

from __future__ import annotations

import hmac
import re
import secrets
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from flask import request, session
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import NotFound, Unauthorized

from app.batches.service import Batch
from app.domain.errors import InvalidInput, SettingsError
from app.domain.messages import Words
from app.runs.service import StoredRun
from app.web import services
from app.web.observability import bearer_token, client_address, log_refusal
from app.web.security import owner

Thing = TypeVar("Thing", StoredRun, Batch)
CHALLENGE = WWWAuthenticate("bearer", {"realm": "Hopcheck"})
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_LINE = re.compile(rf"(?P<name>{NAME.pattern}):(?P<hash>[0-9a-f]{{64}})")


def current_principal() -> str:
    """Return the owner whose runs this request may access: by cookie or, in the API where API_TOKENS is set, by token.

    Returns "" without a cookie, and sets none. Raises Unauthorized where a token is required and missing or unknown.
    """
    if request.blueprint != "api" or services().settings.api_tokens is None:
        return session.get("owner", "")
    name = token_name()
    if name is None:
        log_refusal("token")
        raise Unauthorized(Words("This needs a token that is known here."), www_authenticate=CHALLENGE)
    return f"token:{name}"  # no cookie's owner has a colon


def token_name() -> str | None:
    """Return the name of the request's token, None without a known one."""
    path, token = services().settings.api_tokens, bearer_token()
    return find_token(path, token) if path and token else None


def client() -> str:
    """Return the name to count requests under: a known token's for the API, else the client's address."""
    name = token_name() if request.blueprint == "api" else None
    return f"token {name}" if name else client_address()


def principal_for_new_run() -> str:
    """Return the owner of a run that this request creates, setting a cookie where API_TOKENS is not set."""
    return current_principal() if services().settings.api_tokens else owner()


def stored_run(run_id: str) -> StoredRun:
    """Return the run of any owner. Raises NotFound."""
    return _found(services().runs.report(run_id), "run")


def owned(run_id: str) -> StoredRun:
    """Return the run if the principal owns it. Raises NotFound otherwise, also for runs of others."""
    return _owned(current_principal(), stored_run(run_id), "run")


def stored_batch(batch_id: str) -> Batch:
    """Return the batch of any owner. Raises NotFound."""
    return _found(services().batches.get(batch_id), "batch")


def owned_batch(batch_id: str) -> Batch:
    """Return the batch if the principal owns it. Raises NotFound otherwise, also for batches of others."""
    return _owned(current_principal(), stored_batch(batch_id), "batch")


def _found(thing: Thing | None, name: str) -> Thing:
    if thing is None:
        raise NotFound(Words("There is no such {name}.", name=Words(name)))
    return thing


def _owned(principal: str, thing: Thing, name: str) -> Thing:
    if thing.owner != principal:
        log_refusal("owner")
        raise NotFound(Words("There is no such {name} of yours.", name=Words(name)))
    return thing


def new_token() -> str:
    """Return a random token, with a prefix by which scanners recognise leaked tokens."""
    return f"hopcheck_{secrets.token_urlsafe(32)}"


def token_line(name: str, token: str) -> str:
    """Return the line of a token in the file of tokens. Raises InvalidInput for an invalid name."""
    if not NAME.fullmatch(name):
        raise InvalidInput(
            "A token's name has at most 40 small letters, digits, '.', '_' and '-', and begins with a letter or digit.",
            "name",
        )
    return f"{name}:{_hashed(token)}"


def find_token(path: Path, token: str) -> str | None:
    """Return the name of the token in the file `path`, None for an unknown one.

    Raises SettingsError when the file cannot be read or has an invalid line.
    """
    found = None
    for name, stored in _read(path):  # without an early exit, so that the time does not depend on the match
        if hmac.compare_digest(stored, _hashed(token)):
            found = name
    return found


def token_hash(path: Path, token: str) -> str | None:
    """Return the stored hash of a known token, None for an unknown one. Raises SettingsError."""
    return _hashed(token) if find_token(path, token) else None


def stored_hashes(path: Path) -> tuple[str, ...]:
    """Return the hashes of the tokens that are known now. Raises SettingsError."""
    return tuple(stored for _, stored in _read(path))


def _read(path: Path) -> list[tuple[str, str]]:
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        raise SettingsError(Words("The file that API_TOKENS names cannot be read, or is no text in UTF-8")) from None
    known = [(number, _LINE.fullmatch(line)) for number, line in enumerate(lines, 1) if line and line[0] != "#"]
    for number, match in known:
        if match is None:
            raise SettingsError(f"Line {number} of the API's tokens is not a name, a colon and a hash")
    return [(match["name"], match["hash"]) for _, match in known if match]


def _hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()
