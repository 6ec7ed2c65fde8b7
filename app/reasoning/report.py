"""fold(events) -> Report: the only idea of what a run is. Page, API, command line and exports all read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from app.reasoning.events import (
    AnswerFound,
    Event,
    HopFailed,
    HopInterrupted,
    HopKept,
    HopSetAside,
    PhaseEntered,
    QuestionAsked,
    QuestioningEnded,
    RunBranched,
    RunFailed,
    RunImported,
    RunInterrupted,
    RunResumed,
    RunStarted,
    StepFailed,
    SufficiencyJudged,
    TokensUsed,
    TroubleMet,
    VerdictReached,
)
from app.reasoning.types import Branch, Claim, Hop, HopStatus, Imported, Judgement, Question, RunOptions, Usage, Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """A run as it stands after some of its events.

    `times` maps a hop's number to the seconds since the run's start at which it (began, closed or last changed).
    `ended` is None while the run goes on, then "verdict", "failed" or "interrupted"; `problem` says why for the last
    two. `failures` are calls that belong to no hop and did not work, and what did not work though its hop went on.
    `stopped_because` says why questioning ended. `sufficiency` is what the claim verifier said last, and `judged_after`
    the number of hops that there were when it was last asked, whether or not it replied. `resumed` counts how often the
    run was cut off and taken up again; the gaps are a part of `seconds`. `branch` says where the run left another,
    None for one that began by itself; the hops that stood took no time here. `imported` is what a report that was read
    from a file says of itself, None for a run of this site.
    """

    claim: Claim
    options: RunOptions
    hops: tuple[Hop, ...] = ()
    times: tuple[tuple[float, float], ...] = ()
    phase: str = ""
    sufficiency: Judgement | None = None
    judged_after: int = 0
    failures: tuple[str, ...] = ()
    stopped_because: str = ""
    verdict: Verdict | None = None
    ended: str | None = None
    problem: str = ""
    resumed: int = 0
    branch: Branch | None = None
    imported: Imported | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def context(self) -> tuple[Hop, ...]:
        """The kept hops, in order."""
        return tuple(hop for hop in self.hops if hop.status is HopStatus.KEPT)

    @property
    def set_aside(self) -> tuple[Hop, ...]:
        """The hops that were turned down or failed, in order."""
        return tuple(hop for hop in self.hops if hop.status in (HopStatus.SET_ASIDE, HopStatus.FAILED))

    def seconds_of(self, hop: Hop) -> float:
        """How long a hop took, or has taken up to the last event that touched it."""
        began, last = self.times[hop.number - 1]
        return last - began


def fold(events: Iterable[tuple[Event, float]]) -> Report:
    """Fold (event, seconds since the run's start) pairs, RunStarted first, into a Report.

    Raises ValueError when the first event is not RunStarted: such a log is no run.
    """
    report: Report | None = None
    for event, seconds in events:
        if isinstance(event, RunStarted):
            report = Report(event.claim, event.options)
        elif report is None:
            raise ValueError(f"a run begins with run_started, not {event.kind}")
        else:
            report = apply(report, event, seconds)
    if report is None:
        raise ValueError("a run without events")
    return report


def apply(report: Report, event: Event, seconds: float) -> Report:
    """The report after one more event, which happened `seconds` after the run's start."""
    report = replace(report, seconds=seconds)
    match event:
        case PhaseEntered(phase):
            return replace(report, phase=phase)
        case RunResumed():
            return replace(_standing(report), phase="taking the check up again", resumed=report.resumed + 1)
        case RunBranched(branch):
            return replace(report, branch=branch)
        case RunImported(imported):
            return replace(report, imported=imported)
        case TokensUsed(usage):
            return replace(report, usage=report.usage + usage)
        case QuestionAsked(number, question):
            return replace(
                report, hops=(*report.hops, Hop(number, question)), times=(*report.times, (seconds, seconds))
            )
        case AnswerFound(number, answer):
            return _changed(report, number, seconds, answer=answer)
        case HopKept(number, reason):
            return _changed(report, number, seconds, status=HopStatus.KEPT, reason=reason)
        case HopSetAside(number, reason):
            return _changed(report, number, seconds, status=HopStatus.SET_ASIDE, reason=reason)
        case HopFailed(number, module, message):
            return _failed(report, number, f"The {module} failed: {message}", seconds)
        case HopInterrupted(number, reason):
            return _changed(report, number, seconds, status=HopStatus.INTERRUPTED, reason=reason)
        case StepFailed(module, message):
            failures = (*report.failures, f"The {module} failed: {message}")
            return replace(report, failures=failures, judged_after=len(report.hops))
        case TroubleMet(message):
            known = message in report.failures
            return report if known else replace(report, failures=(*report.failures, message))
        case SufficiencyJudged(judgement):
            return replace(report, sufficiency=judgement, judged_after=len(report.hops))
        case QuestioningEnded(reason):
            return replace(report, stopped_because=reason)
        case VerdictReached(verdict):
            return replace(_closed(report), verdict=verdict, ended="verdict", phase="")
        case RunFailed(message):
            return replace(_closed(report), problem=message, ended="failed", phase="")
        case RunInterrupted(message):
            return replace(_closed(report), problem=message, ended="interrupted", phase="")
    return report


def _changed(report: Report, number: int, seconds: float, **changes) -> Report:
    at = number - 1
    hops, times = list(report.hops), list(report.times)
    hops[at] = replace(hops[at], **changes)
    times[at] = (times[at][0], seconds)
    return replace(report, hops=tuple(hops), times=tuple(times))


def _failed(report: Report, number: int, reason: str, seconds: float) -> Report:
    """A hop can fail before it has a question; it is on the page all the same."""
    if number > len(report.hops):
        report = apply(report, QuestionAsked(number, Question("")), seconds)
    return _changed(report, number, seconds, status=HopStatus.FAILED, reason=reason)


def _standing(report: Report) -> Report:
    """Without the hop that was cut off: it is asked anew under the same number."""
    standing = tuple(hop for hop in report.hops if hop.status is not HopStatus.OPEN)
    return replace(report, hops=standing, times=report.times[: len(standing)])


def _closed(report: Report) -> Report:
    """No hop of an ended run is open."""
    hops = tuple(
        hop.closed(HopStatus.INTERRUPTED, "The run ended before this hop did.") if hop.status is HopStatus.OPEN else hop
        for hop in report.hops
    )
    return replace(report, hops=hops)
