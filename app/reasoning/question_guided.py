"""The question-guided strategy: QACheck's loop (Pan et al., EMNLP 2023 demos, arXiv 2310.07609, section 3).

    C = {}
    until D(c, C) says enough, or max_hops:   q = Q(c, C);  a, e = A(q);  if V(c, (q, a), C) then C += (q, a)
    R(c, C) gives label and rationale

Every asked hop counts, kept or not. An empty C is never enough, so D is not asked then; D is asked again only when C
has changed. Two hops in a row that bring nothing end the questioning; hops that a branch stands on are not among them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from app.reasoning.errors import CallFailed
from app.reasoning.events import (
    Event,
    HopKept,
    HopSetAside,
    QuestioningEnded,
    RunInterrupted,
    StepFailed,
    SufficiencyJudged,
)
from app.reasoning.report import Report
from app.reasoning.roles import (
    ClaimVerifier,
    Control,
    QAValidator,
    QuestionAnswerer,
    QuestionGenerator,
    Reasoner,
    Wish,
)
from app.reasoning.trail import (
    NOTHING_LEFT,
    Trail,
    answered,
    brought_nothing,
    conclude,
    failed,
    hurried,
    interrupted,
    limit_reached,
    wish_to_end,
)
from app.reasoning.types import Claim, Hop, HopStatus, Question, RunOptions


@dataclass(frozen=True)
class QuestionGuided:
    """The loop over five modules, each replaceable alone. Holds no state of any run."""

    verifier: ClaimVerifier
    generator: QuestionGenerator
    answerer: QuestionAnswerer
    validator: QAValidator
    reasoner: Reasoner

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield what happens; the last event is terminal. Of `so_far` stands every hop but one that was cut off."""
        trail = Trail.of(so_far)
        if not (so_far and so_far.stopped_because):
            reason = yield from self._question(claim, trail, options, so_far, control)
            if control and control.wish() is Wish.STOP:
                yield RunInterrupted(control.reason())
                return
            yield QuestioningEnded(reason)
        yield from conclude(self.reasoner, claim, trail, trail.context, options)

    def _question(
        self, claim: Claim, trail: Trail, options: RunOptions, so_far: Report | None, control: Control | None
    ) -> Generator[Event, None, str]:
        """Hop after hop until there is a reason to end; returns the reason. A reply of D in `so_far` stands, too."""
        if so_far and so_far.judged_after >= len(trail.hops):
            enough = bool(so_far.sufficiency and so_far.sufficiency.holds)
        else:
            enough = yield from self._is_enough(claim, trail, options, control)
        while not enough:
            if reason := self._reason_to_end(trail, options, control):
                return reason
            hop = yield from self._ask(claim, trail, control)
            if hop is None:
                return NOTHING_LEFT
            trail.hops.append(hop)
            enough = yield from self._is_enough(claim, trail, options, control)
        return "The claim verifier was satisfied."

    def _reason_to_end(self, trail: Trail, options: RunOptions, control: Control | None) -> str:
        """Why no further question may be asked, or nothing."""
        return wish_to_end(control) or limit_reached(trail.hops, options) or brought_nothing(trail.own)

    def _ask(self, claim: Claim, trail: Trail, control: Control | None) -> Generator[Event, None, Hop | None]:
        """One hop from question to keeping; returns it closed, or None when there is no question left."""
        number, module = trail.next_number, "question generator"
        hop = Hop(number, Question(""))
        try:
            question = trail.given or self.generator.next_question(claim, trail.context, trail.set_aside)
            if question is None:
                return None
            hop, module = Hop(number, question), "answerer"
            hop = yield from answered(self.answerer, number, question, claim, control)
            if hop.status is not HopStatus.OPEN:
                return hop
            if hurried(control):
                return (yield from interrupted(hop))
            module = "QA validator"
            judgement = self.validator.is_useful(claim, trail.context, hop)
        except CallFailed as error:
            return (yield from failed(hop, module, error))
        if judgement.holds:
            yield HopKept(number, judgement.reason)
            return hop.closed(HopStatus.KEPT, judgement.reason)
        yield HopSetAside(number, judgement.reason)
        return hop.closed(HopStatus.SET_ASIDE, judgement.reason)

    def _is_enough(
        self, claim: Claim, trail: Trail, options: RunOptions, control: Control | None
    ) -> Generator[Event, None, bool]:
        """Ask D after a kept hop, unless the questioning ends in any case.

        A call that fails is shown and decides nothing, so the loop goes on.
        """
        changed = bool(trail.hops) and trail.hops[-1].status is HopStatus.KEPT
        if not changed or self._reason_to_end(trail, options, control):
            return False
        try:
            judgement = self.verifier.is_sufficient(claim, trail.context)
        except CallFailed as error:
            yield StepFailed("claim verifier", str(error))
            return False
        yield SufficiencyJudged(judgement)
        return judgement.holds
