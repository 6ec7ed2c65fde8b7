"""The question-guided strategy: QACheck's loop (Pan et al., EMNLP 2023 demos, arXiv 2310.07609, section 3).

    C = {}
    until D(c, C) says enough, or max_hops:   q = Q(c, C);  a, e = A(q);  if V(c, (q, a), C) then C += (q, a)
    R(c, C) gives label and rationale

Every asked hop counts, kept or not. An empty C is never enough, so D is not asked then; D is asked again only when C
has changed. Two hops in a row that bring nothing end the questioning.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from app.reasoning.errors import CallFailed
from app.reasoning.events import (
    AnswerFound,
    Event,
    HopFailed,
    HopKept,
    HopSetAside,
    QuestionAsked,
    QuestioningEnded,
    RunFailed,
    RunInterrupted,
    StepFailed,
    SufficiencyJudged,
    VerdictReached,
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
from app.reasoning.types import Claim, Hop, HopStatus, Label, Question, RunOptions, Verdict

FRUITLESS_HOPS = 2
"""So many hops in a row without a kept one, and the reasoner is called with what there is."""


@dataclass
class _Trail:
    """The hops of one run so far; grows as the loop goes, and is never shared between runs."""

    hops: list[Hop]

    @classmethod
    def of(cls, so_far: Report | None) -> _Trail:
        """The hops that stand."""
        cut_off = (HopStatus.OPEN, HopStatus.INTERRUPTED)
        return cls([hop for hop in so_far.hops if hop.status not in cut_off] if so_far else [])

    @property
    def context(self) -> tuple[Hop, ...]:
        return tuple(hop for hop in self.hops if hop.status is HopStatus.KEPT)

    @property
    def set_aside(self) -> tuple[Hop, ...]:
        return tuple(hop for hop in self.hops if hop.status is not HopStatus.KEPT)

    @property
    def fruitless(self) -> int:
        """How many hops at the end brought nothing."""
        count = 0
        for hop in reversed(self.hops):
            if hop.status is HopStatus.KEPT:
                break
            count += 1
        return count


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
        trail = _Trail.of(so_far)
        if not (so_far and so_far.stopped_because):
            reason = yield from self._question(claim, trail, options, so_far, control)
            if control and control.wish() is Wish.STOP:
                yield RunInterrupted(control.reason())
                return
            yield QuestioningEnded(reason)
        yield from self._conclude(claim, trail, options)

    def _question(
        self, claim: Claim, trail: _Trail, options: RunOptions, so_far: Report | None, control: Control | None
    ) -> Generator[Event, None, str]:
        """Hop after hop until there is a reason to end; returns the reason. A reply of D in `so_far` stands, too."""
        if so_far and so_far.judged_after >= len(trail.hops):
            enough = bool(so_far.sufficiency and so_far.sufficiency.holds)
        else:
            enough = yield from self._is_enough(claim, trail, options, control)
        while not enough:
            if reason := self._reason_to_end(trail, options, control):
                return reason
            hop = yield from self._ask(claim, trail)
            if hop is None:
                return "There was nothing left to ask."
            trail.hops.append(hop)
            enough = yield from self._is_enough(claim, trail, options, control)
        return "The claim verifier was satisfied."

    def _reason_to_end(self, trail: _Trail, options: RunOptions, control: Control | None) -> str:
        """Why no further question may be asked, or nothing."""
        if control and control.wish() is not Wish.GO_ON:
            return control.reason()
        if len(trail.hops) >= options.max_hops:
            return f"The limit of {options.max_hops} hops was reached."
        if trail.fruitless >= FRUITLESS_HOPS:
            return f"{FRUITLESS_HOPS} hops in a row brought nothing."
        return ""

    def _ask(self, claim: Claim, trail: _Trail) -> Generator[Event, None, Hop | None]:
        """One hop from question to keeping; returns it closed, or None when there is no question left."""
        number, module = len(trail.hops) + 1, "question generator"
        hop = None
        try:
            question = self.generator.next_question(claim, trail.context, trail.set_aside)
            if question is None:
                return None
            hop = Hop(number, question)
            yield QuestionAsked(number, question)
            module = "answerer"
            answer = self.answerer.answer(question, claim)
            hop = Hop(number, question, answer)
            yield AnswerFound(number, answer)
            module = "QA validator"
            judgement = self.validator.is_useful(claim, trail.context, hop)
        except CallFailed as error:
            yield HopFailed(number, module, str(error))
            return (hop or Hop(number, Question(""))).closed(HopStatus.FAILED, str(error))
        if judgement.holds:
            yield HopKept(number, judgement.reason)
            return hop.closed(HopStatus.KEPT, judgement.reason)
        yield HopSetAside(number, judgement.reason)
        return hop.closed(HopStatus.SET_ASIDE, judgement.reason)

    def _is_enough(
        self, claim: Claim, trail: _Trail, options: RunOptions, control: Control | None
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

    def _conclude(self, claim: Claim, trail: _Trail, options: RunOptions) -> Iterator[Event]:
        """R over the kept hops. Without any there is nothing to reason from, and no label set changes that.

        Where every hop failed nothing was looked at, so there is no verdict either: the run failed.
        """
        if trail.hops and all(hop.status is HopStatus.FAILED for hop in trail.hops):
            yield RunFailed("Every question failed before it had an answer; the hops say why.")
            return
        if not trail.context:
            yield VerdictReached(Verdict(Label.NOT_ENOUGH_EVIDENCE, (), missing=_nothing_found(trail)))
            return
        try:
            verdict = self.reasoner.conclude(claim, trail.context, options.labels.labels)
        except CallFailed as error:
            yield RunFailed(f"The reasoner failed: {error}")
            return
        yield VerdictReached(verdict)


def _nothing_found(trail: _Trail) -> str:
    if not trail.hops:
        return "No question about this claim could be asked."
    return "No question led to an answer that could be kept."
