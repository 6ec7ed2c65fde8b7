"""API tokens: shown once, and stored as SHA-256 hashes in a file that the operator writes.

A line of that file is `name:hash`; empty lines and those that start with # are ignored. The file is read for every
request with a token, so that a removed token stops working at once. Tokens have 256 random bits, so that a plain hash
is enough.
"""

from __future__ import annotations

import hmac
import re
import secrets
from hashlib import sha256
from pathlib import Path

from flask import request

from app.domain.errors import InvalidInput, SettingsError

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_LINE = re.compile(rf"(?P<name>{NAME.pattern}):(?P<hash>[0-9a-f]{{64}})")


def new_token() -> str:
    """Return a random token, with a prefix by which scanners recognise leaked tokens."""
    return f"hopcheck_{secrets.token_urlsafe(32)}"


def line_of(name: str, token: str) -> str:
    """Return the line for the file. Raises InvalidInput for an invalid name."""
    if not NAME.fullmatch(name):
        raise InvalidInput(
            "A token's name has at most 40 small letters, digits, '.', '_' and '-', and begins with a letter or digit.",
            "name",
        )
    return f"{name}:{_hashed(token)}"


def holder(path: Path, token: str) -> str | None:
    """Return the name of the token in that file, None for an unknown one.

    Raises SettingsError when the file cannot be read or has an invalid line.
    """
    known, found = _read(path), None
    for name, kept in known:  # without an early exit, so that the time does not depend on the match
        if hmac.compare_digest(kept, _hashed(token)):
            found = name
    return found


def bearer() -> str:
    """Return the token in the request's Authorization header, "" without one."""
    try:
        given = request.authorization
    except ValueError:  # Werkzeug fails on a user name or password that is not ASCII
        return ""
    return given.token or "" if given and given.type == "bearer" else ""


def _read(path: Path) -> list[tuple[str, str]]:
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        raise SettingsError("The file that API_TOKENS names cannot be read, or is no text in UTF-8") from None
    known = [(number, _LINE.fullmatch(line)) for number, line in enumerate(lines, 1) if line and line[0] != "#"]
    for number, match in known:
        if match is None:
            raise SettingsError(f"Line {number} of the API's tokens is not one of a name, a colon and a hash")
    return [(match["name"], match["hash"]) for _, match in known if match]


def _hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()
