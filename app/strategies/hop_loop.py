"""What the strategies that ask questions share: the hops so far, one hop's asking, why to end, and the conclusion."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from app.domain.errors import CallFailed
from app.domain.events import AnswerFound, Event, HopFailed, HopInterrupted, QuestionAsked, RunFailed, VerdictReached
from app.domain.model import Answer, Branch, Claim, Context, Hop, HopStatus, Label, Question, RunOptions, Verdict
from app.domain.ports import Control, Reasoner, RunCommand
from app.domain.report import Report

MAX_FRUITLESS_HOPS = 2
"""So many hops in a row without a kept one, and no further question follows from them."""
NOTHING_TO_ASK = "There was nothing left to ask."
HOP_INTERRUPTED = "The check was to conclude before this hop was done."


@dataclass
class HopHistory:
    """The hops of one run so far; grows as the loop goes, and is never shared between runs.

    `branch` says where the run left another one, if it did.
    """

    hops: list[Hop]
    branch: Branch | None = None

    @classmethod
    def of(cls, so_far: Report | None) -> Self:
        """The hops that stand."""
        cut_off = (HopStatus.OPEN, HopStatus.INTERRUPTED)
        if so_far is None:
            return cls([])
        return cls([hop for hop in so_far.hops if hop.status not in cut_off], so_far.branch)

    @property
    def next_number(self) -> int:
        """The number of the hop that comes next."""
        return len(self.hops) + 1

    @property
    def given(self) -> Question | None:
        """What the run's owner wants asked next, word for word."""
        return self.branch.question if self.branch and self.branch.hop == self.next_number else None

    @property
    def own(self) -> list[Hop]:
        """The hops that this run has asked itself."""
        return self.hops[self.branch.inherited_hops if self.branch else 0 :]

    @property
    def context(self) -> Context:
        """The kept hops."""
        return tuple(hop for hop in self.hops if hop.status is HopStatus.KEPT)

    @property
    def set_aside(self) -> tuple[Hop, ...]:
        """The hops that were turned down or failed."""
        return tuple(hop for hop in self.hops if hop.status is not HopStatus.KEPT)


def reason_to_stop(control: Control | None) -> str:
    """Why whoever controls the run wants no further question, or nothing."""
    return control.reason() if control and control.command() is not RunCommand.CONTINUE else ""


def limit_reached(hops: Sequence[Hop], options: RunOptions) -> str:
    """What is said when so many hops are all that may be asked, or nothing."""
    return f"The limit of {options.max_hops} hops was reached." if len(hops) >= options.max_hops else ""


def reason_stalled(hops: Sequence[Hop]) -> str:
    """What is said when the last hops were all fruitless, or nothing."""
    last = hops[-MAX_FRUITLESS_HOPS:]
    fruitless = len(last) == MAX_FRUITLESS_HOPS and all(hop.status is not HopStatus.KEPT for hop in last)
    return f"{MAX_FRUITLESS_HOPS} hops in a row brought nothing." if fruitless else ""


def must_finish_now(control: Control | None) -> bool:
    """Whether the run is to conclude without even the hop that is under way."""
    return control is not None and control.command() is RunCommand.FINISH_NOW


def answered(
    find: Callable[[], Answer], number: int, question: Question, control: Control | None
) -> Generator[Event, None, Hop]:
    """Ask `question` as hop `number`; returns the hop with its answer, still open, or interrupted where it is hurried.

    Raises what `find`, which is to bring the answer, raises.
    """
    yield QuestionAsked(number, question)
    if must_finish_now(control):
        return (yield from interrupted(Hop(number, question)))
    answer = find()
    yield AnswerFound(number, answer)
    return Hop(number, question, answer)


def interrupted(hop: Hop) -> Generator[Event, None, Hop]:
    """Leave the hop where it is; returns it closed."""
    yield HopInterrupted(hop.number, HOP_INTERRUPTED)
    return hop.closed(HopStatus.INTERRUPTED, HOP_INTERRUPTED)


def failed(hop: Hop, module: str, error: CallFailed) -> Generator[Event, None, Hop]:
    """A call of the hop did not work; returns it closed. One that failed before it had a question has an empty one."""
    yield HopFailed(hop.number, module, str(error))
    return hop.closed(HopStatus.FAILED, str(error))


def conclude(
    reasoner: Reasoner, claim: Claim, trail: HopHistory, context: Context, options: RunOptions
) -> Iterator[Event]:
    """R over `context`, kept hops of `trail`. Without any there is nothing to reason from, whatever the labels.

    Where every hop failed nothing was looked at, so there is no verdict either: the run failed.
    """
    if trail.hops and all(hop.status is HopStatus.FAILED for hop in trail.hops):
        yield RunFailed("Every question failed before it had an answer; the hops say why.")
        return
    if not context:
        yield VerdictReached(Verdict(Label.NOT_ENOUGH_EVIDENCE, (), missing=_nothing_found(trail)))
        return
    try:
        verdict = reasoner.conclude(claim, context, options.labels.labels)
    except CallFailed as error:
        yield RunFailed(f"The reasoner failed: {error}")
        return
    yield VerdictReached(verdict)


def _nothing_found(trail: HopHistory) -> str:
    if not trail.hops:
        return "No question about this claim could be asked."
    return "No question led to an answer that could be kept."
