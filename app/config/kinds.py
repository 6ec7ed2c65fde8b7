"""Parsers for the kinds of settings, each with a description of its valid values, and the signing key.

Each function from `whole` to `like` returns the arguments `parse` and `choices` of `setting`. For example, a setting of
whole numbers is `setting(env, default, about, **whole(0, 9))`. The signing key is a random secret in a file, created
once and atomically, readable only by its owner.
"""

from __future__ import annotations

import os
import re
import secrets
import tomllib
from collections.abc import Callable
from dataclasses import field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from app.domain.errors import SettingsError
from app.domain.model import Range

MIN_SECRET_LENGTH = 16
"""Characters. A generated secret has 43; a truncated one must not be used."""
SECRETS = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "SITE_PASSWORD", "METRICS_TOKEN")


def setting(env: str, default: Any, about: str, parse: Callable[[str], Any] = str, choices: str = "text") -> Any:
    """Return a dataclass field for the environment variable `env`, described by `about`.

    `parse` raises ValueError or KeyError for an invalid value; `choices` describes the valid ones in the error message.
    Secrets are left out of the settings' repr, which could appear in a traceback.
    """
    is_secret = env in SECRETS or env.endswith("_API_KEY")
    metadata = {"env": env, "about": about, "parse": parse, "choices": choices}
    return field(default=default, repr=not is_secret, metadata=metadata)


def whole(low: int, high: int) -> dict[str, Any]:
    """Accept a whole number between two bounds, inclusive."""

    def parse(raw: str) -> int:
        if not low <= (number := int(raw)) <= high:
            raise ValueError(raw)
        return number

    return {"parse": parse, "choices": f"a whole number from {low} to {high}"}


def one_of(*names: str) -> dict[str, Any]:
    """Accept one of these names."""

    def parse(raw: str) -> str:
        return names[names.index(raw)]  # index() raises ValueError for any other name

    return {"parse": parse, "choices": f"one of: {', '.join(names)}"}


def some_of(*known: str) -> dict[str, Any]:
    """Accept some of these names, separated by commas, in the order to be used; none for an empty text."""

    def parse(raw: str) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(name.strip() for name in raw.split(",") if name.strip()))
        if not set(listed) <= set(known):
            raise ValueError(raw)
        return listed

    return {"parse": parse, "choices": f"some of {', '.join(known)}, with commas between"}


def names() -> dict[str, Any]:
    """Accept names separated by commas; repetitions are dropped."""

    def parse(raw: str) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(name.strip() for name in raw.split(",")))
        if not all(re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name) for name in listed):
            raise ValueError(raw)
        return listed

    return {"parse": parse, "choices": "names of small letters, digits, '.', '_' and '-', with commas between"}


def origins() -> dict[str, Any]:
    """Accept origins of web sites separated by commas, or `*` for all sites; repetitions are dropped."""
    host = r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?"

    def parse(raw: str) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(origin.strip().lower() for origin in raw.split(",")))
        if listed != ("*",) and not all(re.fullmatch(f"https?://{host}", origin) for origin in listed):
            raise ValueError(raw)
        return listed

    return {"parse": parse, "choices": "origins like https://example.org, with commas between, or *"}


def number(low: float, high: float | None = None) -> dict[str, Any]:
    """Accept a number of at least `low`, and of at most `high` if there is one."""

    def parse(raw: str) -> float:
        number = float(raw)
        if not low <= number < float("inf") or (high is not None and number > high):
            raise ValueError(raw)
        return number

    return {"parse": parse, "choices": f"a number from {low:g} " + ("up" if high is None else f"to {high:g}")}


def within(limits: Range) -> dict[str, Any]:
    """Accept a number in the range of an option of a check."""
    return (whole if limits.is_whole else number)(limits.minimum, limits.maximum)


def switch() -> dict[str, Any]:
    """Accept "on" or "off"."""

    def parse(raw: str) -> bool:
        return {"on": True, "off": False}[raw.lower()]

    return {"parse": parse, "choices": "on or off"}


def database() -> dict[str, Any]:
    """Accept a database URL; a PostgreSQL URL without a driver gets psycopg 3."""
    address = like(r"[a-z][a-z0-9+]*://\S*", "a URL like sqlite:////path/to/file or postgresql://user@host/name")

    def parse(raw: str) -> str:
        return re.sub(r"^postgres(?:ql)?://", "postgresql+psycopg://", address["parse"](raw))

    return {**address, "parse": parse}


def like(pattern: str, choices: str) -> dict[str, Any]:
    """Accept text that matches a regular expression; `choices` describes it."""

    def parse(raw: str) -> str:
        if not re.fullmatch(pattern, raw):
            raise ValueError(raw)
        return raw

    return {"parse": parse, "choices": choices}


def is_loopback(host: str) -> bool:
    """Return whether a host name or address without port and brackets is one of this machine's loopback interface."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def keys_named_in(models_file: Path | None) -> set[str]:
    """Return the variables that the file names as keys; the registry of models reports a file that is invalid."""
    try:
        document = tomllib.loads(models_file.read_text(encoding="utf-8")) if models_file else {}
    except (OSError, ValueError):
        return set()
    entries = document.get("model")
    entries = entries if isinstance(entries, list) else []
    return {str(entry.get("api_key_env", "")) for entry in entries if isinstance(entry, dict)}


def load_or_create_secret(path: Path) -> str:
    """Return the secret in `path`, creating it when missing. Raises SettingsError for an unusable file."""
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
    """Create the secret atomically. If several processes do so at once, the first file linked is kept."""
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
