"""What a check finds, in a form that is short to compare."""

from __future__ import annotations

from collections.abc import Callable

from app.doctor.findings import State

SOUND, WARNED, BROKEN = State.OK, State.WARNING, State.PROBLEM


def found(check: Callable, *arguments) -> list[tuple[State, str]]:
    """State and words (the mend included) of all that a check finds."""
    return [(each.state, f"{each.message} {each.fix}") for each in check(*arguments)]


def the_one(check: Callable, *arguments) -> tuple[State, str]:
    """The same of a check that finds one thing."""
    (only,) = found(check, *arguments)
    return only


def has(findings: list[tuple[State, str]], state: State, words: str) -> bool:
    return any(each == state and words in message for each, message in findings)
