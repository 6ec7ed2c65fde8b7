"""A random secret in a file: made once, readable by its owner alone, never half written."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from app.domain.errors import SettingsError

MIN_SECRET_LENGTH = 16
"""Characters. A kept secret has 43; one that was cut off must not sign anything."""


def load_or_create_secret(path: Path) -> str:
    """The secret that `path` holds; made there when it is missing. SettingsError says what is wrong with its file."""
    try:
        if not path.exists():
            _make(path)
        secret = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise SettingsError(f"the signing key {path} can be neither read nor made ({error.strerror})") from None
    except UnicodeDecodeError:
        secret = ""
    if len(secret) < MIN_SECRET_LENGTH:
        raise SettingsError(f"{path} holds no signing key. Delete it, and a new one is made at the next start")
    return secret


def _make(path: Path) -> None:
    """Processes that start together agree: the link that comes first wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(32))
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
