"""The kinds of value that a setting may have: how each is read from text, and the words for what it may be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

SECRETS = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "SITE_PASSWORD", "METRICS_TOKEN")


def setting(env: str, default: Any, about: str, parse: Callable[[str], Any] = str, choices: str = "text") -> Any:
    """A field that knows its environment name; `parse` raises ValueError for anything that is not of `choices`.

    What may hold a password stays out of the settings' repr, which could end up in a trace.
    """
    secret = env in SECRETS or env.endswith("_API_KEY")
    about_it = {"env": env, "about": about, "parse": parse, "choices": choices}
    return field(default=default, repr=not secret, metadata=about_it)


def whole(low: int, high: int) -> dict[str, Any]:
    """A whole number between two bounds, both allowed."""

    def parse(raw: str) -> int:
        if not low <= (number := int(raw)) <= high:
            raise ValueError(raw)
        return number

    return {"parse": parse, "choices": f"a whole number from {low} to {high}"}


def one_of(*names: str) -> dict[str, Any]:
    """One of these names."""

    def parse(raw: str) -> str:
        return names[names.index(raw)]

    return {"parse": parse, "choices": f"one of: {', '.join(names)}"}


def names() -> dict[str, Any]:
    """Names with commas between; a name that comes twice counts once."""

    def parse(raw: str) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(name.strip() for name in raw.split(",")))
        if not all(re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name) for name in listed):
            raise ValueError(raw)
        return listed

    return {"parse": parse, "choices": "names of small letters, digits, '.', '_' and '-', with commas between"}


def number(low: float) -> dict[str, Any]:
    """A number from `low` up."""

    def parse(raw: str) -> float:
        if not (low <= (number := float(raw)) < float("inf")):
            raise ValueError(raw)
        return number

    return {"parse": parse, "choices": f"a number from {low:g} up"}


def switch() -> dict[str, Any]:
    """on or off."""

    def parse(raw: str) -> bool:
        return {"on": True, "off": False}[raw.lower()]

    return {"parse": parse, "choices": "on or off"}


def database() -> dict[str, Any]:
    """A database's address. Of PostgreSQL's drivers psycopg 3 is installed, so an address that names none means it."""
    address = like(r"[a-z][a-z0-9+]*://\S*", "a URL like sqlite:////path/to/file or postgresql://user@host/name")

    def parse(raw: str) -> str:
        return re.sub(r"^postgres(?:ql)?://", "postgresql+psycopg://", address["parse"](raw))

    return {**address, "parse": parse}


def like(pattern: str, choices: str) -> dict[str, Any]:
    """Text that a regular expression matches whole; `choices` says it in words."""

    def parse(raw: str) -> str:
        if not re.fullmatch(pattern, raw):
            raise ValueError(raw)
        return raw

    return {"parse": parse, "choices": choices}
