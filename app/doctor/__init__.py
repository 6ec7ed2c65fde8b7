"""Check an installation and report problems with their fixes.

    flask --app app doctor        python -m app.doctor, when Flask does not start

A check that fails does not stop the others. Checks change nothing: they load no model and create no table. They contact
the database, Redis and its workers; language models only with `--online`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from app.config.settings import Settings
from app.domain.errors import ModelUnavailable


class State(StrEnum):
    """The severity of a finding. WARNING: it works, but not as it should; PROBLEM: something cannot work."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check, in words for the operator."""

    state: State
    message: str
    fix: str = ""
    """A command, a setting or advice; empty for OK."""
    name: str = ""
    """Of what was checked; that of the check when empty."""

    def as_json(self) -> dict[str, str]:
        """Return the finding for `doctor --json`: scripts read `message` as `said` and `fix` as `mend`."""
        return {"name": self.name, "state": self.state, "said": self.message, "mend": self.fix}


Check = Callable[[Settings], Iterable[Finding]]


def ok(message: str, name: str = "") -> Finding:
    return Finding(State.OK, message, "", name)


def warning(message: str, fix: str, name: str = "") -> Finding:
    return Finding(State.WARNING, message, fix, name)


def problem(message: str, fix: str, name: str = "") -> Finding:
    return Finding(State.PROBLEM, message, fix, name)


def run_checks(settings: Settings, checks: Iterable[tuple[str, Check]]) -> Iterator[Finding]:
    """Run the checks in order and yield their findings. An exception in a check is reported as a problem."""
    for name, check in checks:
        try:
            yield from (replace(each, name=each.name or name) for each in check(settings))
        except ModelUnavailable as error:
            yield problem(error.problem.rstrip("."), error.fix, name)
        except Exception as error:
            text = str(error).splitlines()[0] if str(error) else "no reason given"
            message = f"The check failed: {type(error).__name__}, {text}"
            yield problem(message, "Report this with the output of doctor", name)


def format_findings(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the findings as lines for a terminal, each fix on its own line, and the totals at the end."""
    counted = dict.fromkeys(State, 0)
    for finding in findings:
        counted[finding.state] += 1
        yield f"{finding.state:8} {finding.name:18} {finding.message}"
        if finding.fix:
            yield f"{'':8} {'':18} Fix: {finding.fix}"
    yield f"Problems: {counted[State.PROBLEM]}. Warnings: {counted[State.WARNING]}."
