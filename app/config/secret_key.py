"""The key that signs cookies: a random secret in a file, created once and atomically, readable only by its owner."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from app.domain.errors import SettingsError

MIN_LENGTH = 16
"""Characters. A generated secret has 43; a truncated one must not be used."""


def load_or_create(path: Path) -> str:
    """Return the secret in `path`, creating it when missing. Raises SettingsError for an unusable file."""
    try:
        if not path.exists():
            _make(path)
        secret = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise SettingsError(f"the signing key {path} can be neither read nor made ({error.strerror})") from None
    except UnicodeDecodeError:
        secret = ""
    if len(secret) < MIN_LENGTH:
        raise SettingsError(f"{path} holds no signing key. Delete it, and a new one is made at the next start")
    return secret


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(32))
    try:
        path.hardlink_to(draft)
    except FileExistsError:  # another process was first
        pass
    finally:
        draft.unlink()
