"""Shared parts of the strategies that ask questions: hop history, one hop, end conditions and the conclusion."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from app.domain import events
from app.domain.errors import CallFailed
from app.domain.events import Event
from app.domain.instrumentation import cached_if_readable
from app.domain.messages import Code, Text
from app.domain.model import Answer, Branch, Claim, Context, Hop, HopStatus, Label, Question, RunOptions, Verdict
from app.domain.ports import Control, Reasoner, RunCommand
from app.domain.report import Report

MAX_FRUITLESS_HOPS = 2
"""Questioning ends after this many consecutive hops that were not kept."""
MAX_EARLY_CONFIDENCE = 0.59
"""Below "moderate" on the page: further questions could have changed the verdict."""


@dataclass
class HopHistory:
    """The hops of one run so far. The loop appends to it; runs never share one."""

    hops: list[Hop]
    branch: Branch | None = None

    @classmethod
    def of(cls, so_far: Report | None) -> Self:
        """Return the history of a run that continues `so_far`: its hops that were kept, set aside or failed."""
        cut_off = (HopStatus.OPEN, HopStatus.INTERRUPTED)
        if so_far is None:
            return cls([])
        return cls([hop for hop in so_far.hops if hop.status not in cut_off], so_far.branch)

    @property
    def next_number(self) -> int:
        return len(self.hops) + 1

    @property
    def given(self) -> Question | None:
        """Return the question that a branch must ask next, or None."""
        return self.branch.question if self.branch and self.branch.hop == self.next_number else None

    @property
    def own(self) -> list[Hop]:
        """Return the hops that were not inherited from another run."""
        return self.hops[self.branch.inherited_hops if self.branch else 0 :]

    @property
    def context(self) -> Context:
        return tuple(hop for hop in self.hops if hop.status is HopStatus.KEPT)

    @property
    def set_aside(self) -> tuple[Hop, ...]:
        return tuple(hop for hop in self.hops if hop.status is not HopStatus.KEPT)


def reason_to_stop(control: Control | None) -> Text:
    """Return why the run's control allows no further question, or ""."""
    return control.reason() if control and control.command() is not RunCommand.CONTINUE else ""


def limit_reached(hops: Sequence[Hop], options: RunOptions) -> Text:
    """Return the reason to end when the maximum number of hops was asked, or ""."""
    return Code.HOP_LIMIT(hops=options.max_hops) if len(hops) >= options.max_hops else ""


def reason_stalled(hops: Sequence[Hop], only_failed: bool = False) -> Text:
    """Return the reason to end when none of the last hops was kept, or "". With `only_failed`, all must have failed."""
    last = hops[-MAX_FRUITLESS_HOPS:]
    fruitless = [hop.status is HopStatus.FAILED if only_failed else hop.status is not HopStatus.KEPT for hop in last]
    return Code.STALLED(hops=MAX_FRUITLESS_HOPS) if sum(fruitless) == MAX_FRUITLESS_HOPS else ""


def must_finish_now(control: Control | None) -> bool:
    """Return whether the run must conclude without finishing the current hop."""
    return control is not None and control.command() is RunCommand.FINISH_NOW


def ask_question(
    find: Callable[[], Answer], number: int, question: Question, control: Control | None
) -> Generator[Event, None, Hop]:
    """Ask the question; return the hop with the answer that `find` returns, still open, or interrupted."""
    yield events.QuestionAsked(number, question)
    if must_finish_now(control):
        return (yield from interrupt_hop(Hop(number, question)))
    answer = find()
    yield events.AnswerFound(number, answer)
    return Hop(number, question, answer)


def close_hop(hop: Hop, is_kept: bool, reason: Text) -> Generator[Event, None, Hop]:
    """Keep the hop or set it aside, and return it closed."""
    yield events.HopKept(hop.number, reason) if is_kept else events.HopSetAside(hop.number, reason)
    return hop.closed(HopStatus.KEPT if is_kept else HopStatus.SET_ASIDE, reason)


def interrupt_hop(hop: Hop) -> Generator[Event, None, Hop]:
    yield events.HopInterrupted(hop.number, Code.MUST_CONCLUDE())
    return hop.closed(HopStatus.INTERRUPTED, Code.MUST_CONCLUDE())


def fail_hop(hop: Hop, module: str, error: CallFailed) -> Generator[Event, None, Hop]:
    """Fail the hop and return it closed. A hop that failed before it had a question has an empty one."""
    yield events.HopFailed(hop.number, module, str(error))
    return hop.closed(HopStatus.FAILED, str(error))


def conclude(
    reasoner: Reasoner,
    claim: Claim,
    history: HopHistory,
    context: Context,
    options: RunOptions,
    ended_early: bool = False,
    always_reason: bool = False,
) -> Iterator[Event]:
    """Yield the reasoner's verdict over `context`; if that is empty NOT_ENOUGH_EVIDENCE, unless `always_reason`.

    When every hop failed, the run fails too, since no evidence was seen. Where the questioning `ended_early`, the
    confidence is at most MAX_EARLY_CONFIDENCE.
    """
    if history.hops and all(hop.status is HopStatus.FAILED for hop in history.hops):
        yield events.RunFailed(Code.ALL_FAILED())
        return
    if not (context or always_reason):
        missing = Code.NOTHING_HELPS() if history.hops else Code.NO_QUESTION()
        yield events.VerdictReached(Verdict(Label.NOT_ENOUGH_EVIDENCE, (), missing))
        return
    try:
        with cached_if_readable():
            verdict = reasoner.conclude(claim, context, options.labels.labels)
    except CallFailed as error:
        yield events.RunFailed(Code.FAILED(module="reasoner", problem=str(error)))
        return
    if ended_early and verdict.confidence is not None:
        verdict = replace(verdict, confidence=min(verdict.confidence, MAX_EARLY_CONFIDENCE))
    yield events.VerdictReached(verdict)
