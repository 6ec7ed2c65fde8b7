"""The report of a run, computed from its events. Page, API, command line and exports all read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from app.domain import events
from app.domain.messages import CUT_OFF, Code, Text, code_of
from app.domain.model import (
    Branch,
    Claim,
    FactCheck,
    Hop,
    HopStatus,
    Imported,
    Judgement,
    Question,
    RunOptions,
    Usage,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Report:
    """The state of a run after some of its events. Times are seconds since the run's start."""

    claim: Claim
    options: RunOptions
    hops: tuple[Hop, ...] = ()
    times: tuple[tuple[float, float], ...] = ()  # per hop: start of its question's generation, last change
    costs: tuple[Usage, ...] = ()  # per hop, with the generation of its question and interrupted attempts
    unclaimed: Usage = field(default_factory=Usage)  # cost since the last hop or judgement, counted for the next hop
    phase: Text = ""  # the last activity that a module reported
    phase_over: bool = True  # whether that activity has ended
    since: float = 0.0  # time of the last PhaseEntered, RunResumed or outcome
    sufficiency: Judgement | None = None  # of the last SufficiencyJudged
    judged_after: int = 0  # number of hops at the last SufficiencyJudged or StepFailed
    failures: tuple[Text, ...] = ()  # failed calls outside hops, and problems that a hop survived
    fact_checks: tuple[FactCheck, ...] | None = None  # published ones, no part of the verdict; None if not looked up
    stopped_because: Text = ""  # why questioning ended
    ended_early: bool = False  # whether the owner's command or a limit of the run ended it
    verdict: Verdict | None = None
    ended: str | None = None  # None, "verdict", "failed" or "interrupted"
    problem: Text = ""  # why the run failed or was interrupted
    resumed: int = 0  # how often the run was resumed; the gaps count in `seconds`
    branch: Branch | None = None  # inherited hops take no time here
    imported: Imported | None = None  # only for reports that were imported from a file
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def context(self) -> tuple[Hop, ...]:
        return tuple(hop for hop in self.hops if hop.status is HopStatus.KEPT)

    @property
    def set_aside(self) -> tuple[Hop, ...]:
        """Return the hops that were rejected or failed, in order."""
        return tuple(hop for hop in self.hops if hop.status in (HopStatus.SET_ASIDE, HopStatus.FAILED))

    def seconds_of(self, hop: Hop) -> float:
        """Return the duration of a hop, up to the last event that changed it or the end of the run."""
        began, last = self.times[hop.number - 1]
        return last - began

    def usage_of(self, hop: Hop) -> Usage:
        """Return the cost counted for a hop.

        Judgements of the whole context count for no hop. With speculation, a call that ran early counts for the hop
        that was open when it finished, else for the next hop, or for none if a judgement came between.
        """
        return self.costs[hop.number - 1]

    @property
    def open_hop(self) -> Hop | None:
        return self.hops[-1] if self.hops and self.hops[-1].status is HopStatus.OPEN else None


def reduce_events(timed: Iterable[tuple[events.Event, float]], report: Report | None = None) -> Report:
    """Return `report` after more events, each with its seconds since the start, or the report of a run from its start.

    Raises ValueError if RunStarted is not first there.
    """
    for event, seconds in timed:
        if isinstance(event, events.RunStarted):
            report = Report(event.claim, event.options)
        elif report is None:
            raise ValueError(f"a run must begin with run_started, not {event.kind}")
        else:
            report = apply_event(report, event, seconds)
    if report is None:
        raise ValueError("the run has no events")
    return report


def apply_event(report: Report, event: events.Event, seconds: float) -> Report:
    """Return the report after one more event, which happened `seconds` after the run's start."""
    at = partial(replace, report, seconds=seconds)
    match event:
        case events.PhaseEntered(phase):
            return at(phase=phase, phase_over=False, since=seconds)
        case events.RunResumed():
            kept, resumed = _without_open_hop(report), report.resumed + 1
            taken_up = Code.TAKING_UP()
            return replace(kept, resumed=resumed, phase=taken_up, phase_over=False, since=seconds, seconds=seconds)
        case events.RunBranched(branch):
            return at(branch=branch)
        case events.RunImported(imported):
            return at(imported=imported)
        case events.TokensUsed(usage):
            return _add_usage(at(), usage)
        case events.TroubleMet(message):
            known = message in report.failures
            return at(failures=report.failures if known else (*report.failures, message))
        case events.FactChecksFound(found):
            return at(fact_checks=tuple(dict.fromkeys((*(report.fact_checks or ()), *found))))
    return replace(_apply_outcome(report, event, seconds), phase_over=True, since=seconds, seconds=seconds)


def _apply_outcome(report: Report, event: events.Event, seconds: float) -> Report:
    """Apply an event that ends the current activity: a question, an answer, a judgement, an end."""
    match event:
        case events.QuestionAsked(number, question):
            return _open_hop(report, Hop(number, question), seconds)
        case events.AnswerFound(number, answer):
            return _update_hop(report, number, seconds, answer=answer)
        case events.HopKept(number, reason):
            return _update_hop(report, number, seconds, status=HopStatus.KEPT, reason=reason)
        case events.HopSetAside(number, reason):
            return _update_hop(report, number, seconds, status=HopStatus.SET_ASIDE, reason=reason)
        case events.HopFailed(number, module, message):
            if number > len(report.hops):  # it failed before it had a question
                report = _open_hop(report, Hop(number, Question("")), seconds)
            reason = _failure(module, message)
            return _update_hop(report, number, seconds, status=HopStatus.FAILED, reason=reason)
        case events.HopInterrupted(number, reason):
            return _update_hop(report, number, seconds, status=HopStatus.INTERRUPTED, reason=reason)
        case events.StepFailed(module, message):
            failures = (*report.failures, _failure(module, message))
            return replace(report, failures=failures, judged_after=len(report.hops), unclaimed=Usage())
        case events.SufficiencyJudged(judgement):
            return replace(report, sufficiency=judgement, judged_after=len(report.hops), unclaimed=Usage())
        case events.QuestioningEnded(reason, early):
            return replace(report, stopped_because=reason, ended_early=early, unclaimed=Usage())
        case events.VerdictReached(verdict):
            return replace(_interrupt_open_hops(report, seconds), verdict=verdict, ended="verdict", phase="")
        case events.RunFailed(message):
            return replace(_interrupt_open_hops(report, seconds), problem=message, ended="failed", phase="")
        case events.RunInterrupted(message):
            report = _interrupt_open_hops(report, None if code_of(message) in CUT_OFF else seconds)
            return replace(report, problem=message, ended="interrupted", phase="")
    return report


def _failure(module: str, message: str) -> Text:
    """Return what a call's failure says; in an imported report, `message` says it all and there is no module."""
    return Code.FAILED(module=module, problem=message) if module else message


def _add_usage(report: Report, usage: Usage) -> Report:
    """Add a cost to the open hop, else to the next one."""
    report = replace(report, usage=report.usage + usage)
    if report.open_hop:
        return replace(report, costs=(*report.costs[:-1], report.costs[-1] + usage))
    return replace(report, unclaimed=report.unclaimed + usage)


def _open_hop(report: Report, hop: Hop, seconds: float) -> Report:
    """Open a hop. Its time and cost include the generation of its question."""
    began = seconds if report.phase_over else report.since
    return replace(
        report,
        hops=(*report.hops, hop),
        times=(*report.times, (began, seconds)),
        costs=(*report.costs, report.unclaimed),
        unclaimed=Usage(),
    )


def _update_hop(report: Report, number: int, seconds: float, **changes: Any) -> Report:
    at = number - 1
    hops, times = list(report.hops), list(report.times)
    hops[at] = replace(hops[at], **changes)
    times[at] = (times[at][0], seconds)
    return replace(report, hops=tuple(hops), times=tuple(times))


def _without_open_hop(report: Report) -> Report:
    """Remove the open hop, which is asked again under the same number and keeps its cost."""
    if not report.open_hop:
        return report
    lost = report.costs[-1] + report.unclaimed
    return replace(report, hops=report.hops[:-1], times=report.times[:-1], costs=report.costs[:-1], unclaimed=lost)


def _interrupt_open_hops(report: Report, seconds: float | None) -> Report:
    """Mark open hops of an ended run as interrupted at `seconds`; None for the time of their last change."""
    reason = Code.RUN_ENDED()
    for hop in report.hops:
        if hop.status is HopStatus.OPEN:
            at = report.times[hop.number - 1][1] if seconds is None else seconds
            report = _update_hop(report, hop.number, at, status=HopStatus.INTERRUPTED, reason=reason)
    return report
