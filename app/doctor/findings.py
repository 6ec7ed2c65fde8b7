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
    """The result of one check, for people."""

    name: str
    state: State
    message: str
    fix: str = ""
    """A command, a setting or advice; empty for OK."""

    def as_json(self) -> dict[str, str]:
        """Return the finding under the field names of `doctor --json`."""
        return {"name": self.name, "state": self.state, "said": self.message, "mend": self.fix}


Check = Callable[[Settings], Iterable[Finding]]


def ok(name: str, message: str) -> Finding:
    """All is well with `name`."""
    return Finding(name, State.OK, message)


def warning(name: str, message: str, fix: str) -> Finding:
    """It works, but not as it should."""
    return Finding(name, State.WARNING, message, fix)


def problem(name: str, message: str, fix: str) -> Finding:
    """Something cannot work."""
    return Finding(name, State.PROBLEM, message, fix)


def run_checks(settings: Settings, checks: Iterable[tuple[str, Check]]) -> Iterator[Finding]:
    """What each of the named checks finds, in their order. One that breaks is a problem of its own and no more."""
    for name, check in checks:
        try:
            yield from check(settings)
        except Exception as error:
            text = str(error).splitlines()[0] if str(error) else "no reason given"
            yield problem(
                name, f"It could not be looked at: {type(error).__name__}, {text}", "LOG_LEVEL=DEBUG says more"
            )


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """The findings as lines for a terminal, each mend on a line of its own, and the sum at the end."""
    counted = dict.fromkeys(State, 0)
    for finding in findings:
        counted[finding.state] += 1
        yield f"{finding.state:8} {finding.name:18} {finding.message}"
        if finding.fix:
            yield f"{'':8} {'':18} Fix: {finding.fix}"
    yield f"Problems: {counted[State.PROBLEM]}. Warnings: {counted[State.WARNING]}."
