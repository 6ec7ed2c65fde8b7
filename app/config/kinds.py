"""The kinds of settings: each parses the text of an environment variable, and describes its valid values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from app.domain.model import Range

ROOT = Path(__file__).resolve().parents[2]


class SettingKind(NamedTuple):
    """`parse` raises ValueError or KeyError for an invalid value; `choices` describes the valid ones."""

    parse: Callable[[str], Any] = str
    choices: str = "text"


def setting(default: Any, kind: SettingKind = SettingKind(), secret: bool = False) -> Any:  # noqa: B008 - immutable
    """Return a dataclass field for the environment variable of its name in capitals.

    Secrets are left out of the settings' repr, which could appear in a traceback.
    """
    return field(default=default, repr=not secret, metadata=kind._asdict())


def whole(low: int, high: int) -> SettingKind:
    return SettingKind(lambda raw: _between(int(raw), low, high), f"a whole number from {low} to {high}")


def number(low: float, high: float | None = None) -> SettingKind:
    most = float("inf") if high is None else high
    text = f"a number from {low:g} " + ("up" if high is None else f"to {high:g}")
    return SettingKind(lambda raw: _between(float(raw), low, most), text)


def _between(number: float, low: float, high: float) -> float:
    if not low <= number <= high or number == float("inf"):
        raise ValueError(number)
    return number


def within(limits: Range) -> SettingKind:
    return (whole if limits.is_whole else number)(limits.minimum, limits.maximum)


def switch() -> SettingKind:
    return SettingKind(lambda raw: {"on": True, "off": False}[raw.lower()], "on or off")


def like(pattern: str, choices: str) -> SettingKind:
    def parse(raw: str) -> str:
        if not re.fullmatch(pattern, raw):
            raise ValueError(raw)
        return raw

    return SettingKind(parse, choices)


def one_of(*names: str) -> SettingKind:
    return SettingKind(lambda raw: names[names.index(raw)], f"one of: {', '.join(names)}")


def several(each: SettingKind, choices: str) -> SettingKind:
    """Accept values separated by commas; repetitions are dropped."""
    return SettingKind(lambda raw: tuple(dict.fromkeys(each.parse(part.strip()) for part in raw.split(","))), choices)


def path() -> SettingKind:
    """Accept a path; a relative one is resolved against the checkout."""

    def parse(raw: str) -> Path:
        try:
            return ROOT / Path(raw).expanduser()
        except RuntimeError as error:  # the home of a user who has none
            raise ValueError(raw) from error

    return SettingKind(parse, "a path")


def paths() -> SettingKind:
    one = path().parse
    return SettingKind(
        lambda raw: tuple(one(part) for part in raw.split(os.pathsep) if part), f"paths with {os.pathsep} between"
    )


def url(example: str) -> SettingKind:
    return like(r"https?://[^\s@]+", f"a URL like {example}, without a password in it")


def database() -> SettingKind:
    """Accept a database URL; a PostgreSQL URL without a driver gets psycopg 3."""
    address = like(r"[a-z][a-z0-9+]*://\S*", "a URL like sqlite:////path/to/file or postgresql://user@host/name")
    return address._replace(
        parse=lambda raw: re.sub(r"^postgres(?:ql)?://", "postgresql+psycopg://", address.parse(raw))
    )
