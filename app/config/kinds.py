"""Kinds of settings: for each a parser, and a description of the valid values.

Each function except `setting` returns the arguments `parse` and `choices` of `setting`. For example, a setting of whole
numbers is `setting(env, default, about, **whole(0, 9))`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

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
