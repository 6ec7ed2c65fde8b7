"""fold(events) -> Report: the only idea of what a run is. Page, API, command line and exports all read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from app.domain.events import (
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
from app.domain.model import Branch, Claim, Hop, HopStatus, Imported, Judgement, Question, RunOptions, Usage, Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """A run as it stands after some of its events.

    `times` holds for each hop the seconds since the run's start at which it (began, closed or last changed); it begins
    with the phase in which its question was thought of. `costs` holds what each hop's calls cost, those that thought of
    its question included, and those of an attempt that was cut off; `unclaimed` is what was spent since the last hop
    closed and belongs to the next one, if there is one. `phase` is what a module said last of what it does,
    `phase_over` whether something came back since, and `since` when what is done now began, again in seconds.
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
    costs: tuple[Usage, ...] = ()
    unclaimed: Usage = field(default_factory=Usage)
    phase: str = ""
    phase_over: bool = True
    since: float = 0.0
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

    def usage_of(self, hop: Hop) -> Usage:
        """What the calls of a hop have cost; those that weigh the whole context belong to no hop."""
        return self.costs[hop.number - 1]

    @property
    def open_hop(self) -> Hop | None:
        """The hop that is worked on, if there is one: the last."""
        return self.hops[-1] if self.hops and self.hops[-1].status is HopStatus.OPEN else None


def reduce_events(events: Iterable[tuple[Event, float]]) -> Report:
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
            report = apply_event(report, event, seconds)
    if report is None:
        raise ValueError("a run without events")
    return report


def apply_event(report: Report, event: Event, seconds: float) -> Report:
    """The report after one more event, which happened `seconds` after the run's start."""
    report = replace(report, seconds=seconds)
    match event:
        case PhaseEntered(phase):
            return replace(report, phase=phase, phase_over=False, since=seconds)
        case RunResumed():
            report = replace(_standing(report), resumed=report.resumed + 1)
            return replace(report, phase="taking the check up again", phase_over=False, since=seconds)
        case RunBranched(branch):
            return replace(report, branch=branch)
        case RunImported(imported):
            return replace(report, imported=imported)
        case TokensUsed(usage):
            return _spent(report, usage)
        case TroubleMet(message):
            known = message in report.failures
            return report if known else replace(report, failures=(*report.failures, message))
    return _came_back(_happened(report, event, seconds), seconds)


def _happened(report: Report, event: Event, seconds: float) -> Report:
    """The report after something came back: a question, an answer, a judgement, an end."""
    match event:
        case QuestionAsked(number, question):
            return _asked(report, Hop(number, question), seconds)
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
            return replace(report, failures=failures, judged_after=len(report.hops), unclaimed=Usage())
        case SufficiencyJudged(judgement):
            return replace(report, sufficiency=judgement, judged_after=len(report.hops), unclaimed=Usage())
        case QuestioningEnded(reason):
            return replace(report, stopped_because=reason, unclaimed=Usage())
        case VerdictReached(verdict):
            return replace(_closed(report), verdict=verdict, ended="verdict", phase="")
        case RunFailed(message):
            return replace(_closed(report), problem=message, ended="failed", phase="")
        case RunInterrupted(message):
            return replace(_closed(report), problem=message, ended="interrupted", phase="")
    return report


def _spent(report: Report, usage: Usage) -> Report:
    """A cost falls to the hop that is open, else to the one that may be asked next."""
    report = replace(report, usage=report.usage + usage)
    if report.open_hop:
        return replace(report, costs=(*report.costs[:-1], report.costs[-1] + usage))
    return replace(report, unclaimed=report.unclaimed + usage)


def _came_back(report: Report, seconds: float) -> Report:
    """What was being done is over; what is done now began this moment."""
    return replace(report, phase_over=True, since=seconds)


def _asked(report: Report, hop: Hop, seconds: float) -> Report:
    """One more hop: it began when its question began to be thought of, and what that cost is its own."""
    began = seconds if report.phase_over else report.since
    return replace(
        report,
        hops=(*report.hops, hop),
        times=(*report.times, (began, seconds)),
        costs=(*report.costs, report.unclaimed),
        unclaimed=Usage(),
    )


def _changed(report: Report, number: int, seconds: float, **changes) -> Report:
    at = number - 1
    hops, times = list(report.hops), list(report.times)
    hops[at] = replace(hops[at], **changes)
    times[at] = (times[at][0], seconds)
    return replace(report, hops=tuple(hops), times=tuple(times))


def _failed(report: Report, number: int, reason: str, seconds: float) -> Report:
    """A hop can fail before it has a question; it is on the page all the same."""
    if number > len(report.hops):
        report = _asked(report, Hop(number, Question("")), seconds)
    return _changed(report, number, seconds, status=HopStatus.FAILED, reason=reason)


def _standing(report: Report) -> Report:
    """Without the hop that was cut off: it is asked anew under the same number, and what it cost stays with it."""
    if not report.open_hop:
        return report
    lost = report.costs[-1] + report.unclaimed
    return replace(report, hops=report.hops[:-1], times=report.times[:-1], costs=report.costs[:-1], unclaimed=lost)


def _closed(report: Report) -> Report:
    """No hop of an ended run is open."""
    hops = tuple(
        hop.closed(HopStatus.INTERRUPTED, "The run ended before this hop did.") if hop.status is HopStatus.OPEN else hop
        for hop in report.hops
    )
    return replace(report, hops=hops)
