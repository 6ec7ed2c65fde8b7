"""Run a check and return its findings in a form that is short to compare."""

from __future__ import annotations

from collections.abc import Callable

from app.config.settings import Settings
from app.doctor import State, run_checks

SOUND, WARNED, BROKEN = State.OK, State.WARNING, State.PROBLEM


def found(check: Callable, *arguments) -> list[tuple[State, str]]:
    """Return the state and the text (message and fix) of each finding of a check."""
    here = Settings() if not arguments else arguments[0]
    made = run_checks(here, [("", lambda settings: check(*arguments))])
    return [(each.state, f"{each.message} {each.fix}") for each in made]


def the_one(check: Callable, *arguments) -> tuple[State, str]:
    """Return the state and the text of the only finding of a check."""
    (only,) = found(check, *arguments)
    return only


def has(findings: list[tuple[State, str]], state: State, words: str) -> bool:
    return any(each == state and words in message for each, message in findings)
