"""A finding: what was looked at, how it stands, and what mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from app.config.settings import Settings


class State(StrEnum):
    """OK; WARNING: it works, but not as it should; PROBLEM: something cannot work."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line for people. `mend` is a command, a setting or an advice; empty where all is well."""

    name: str
    state: State
    said: str
    mend: str = ""


Check = Callable[[Settings], Iterable[Finding]]


def ok(name: str, said: str) -> Finding:
    """All is well with `name`."""
    return Finding(name, State.OK, said)


def warning(name: str, said: str, mend: str) -> Finding:
    """It works, but not as it should."""
    return Finding(name, State.WARNING, said, mend)


def problem(name: str, said: str, mend: str) -> Finding:
    """Something cannot work."""
    return Finding(name, State.PROBLEM, said, mend)


def examine(settings: Settings, checks: Iterable[tuple[str, Check]]) -> Iterator[Finding]:
    """What each of the named checks finds, in their order. One that breaks is a problem of its own and no more."""
    for name, check in checks:
        try:
            yield from check(settings)
        except Exception as error:
            told = str(error).splitlines()[0] if str(error) else "no reason given"
            yield problem(
                name, f"It could not be looked at: {type(error).__name__}, {told}", "LOG_LEVEL=DEBUG says more"
            )


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """The findings as lines for a terminal, each mend on a line of its own, and the sum at the end."""
    counted = dict.fromkeys(State, 0)
    for finding in findings:
        counted[finding.state] += 1
        yield f"{finding.state:8} {finding.name:18} {finding.said}"
        if finding.mend:
            yield f"{'':8} {'':18} Mend it: {finding.mend}"
    yield f"Problems: {counted[State.PROBLEM]}. Warnings: {counted[State.WARNING]}."
