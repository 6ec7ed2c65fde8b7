"""The question-guided strategy: QACheck's loop (Pan et al., EMNLP 2023 demos, arXiv 2310.07609, section 3).

    C = {}
    until D(c, C) says enough, or max_hops:   q = Q(c, C);  a, e = A(q);  if V(c, (q, a), C) then C += (q, a)
    R(c, C) gives label and rationale

Every asked hop counts, kept or not. D is asked only when C has changed and is not empty. Two consecutive hops that are
not kept end the questioning; hops that a branch inherited do not count.

With `speculative`, D, the next Q and the next A start while V judges the answer, since most answers are kept and not
sufficient. Events and their order are the same without it (docs/critical-path.md).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial

from app.domain.errors import CallFailed
from app.domain.events import (
    Event,
    HopKept,
    HopSetAside,
    QuestioningEnded,
    RunInterrupted,
    StepFailed,
    SufficiencyJudged,
)
from app.domain.instrumentation import CallCancelled
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Judgement, Question, RunOptions
from app.domain.ports import (
    ClaimVerifier,
    Control,
    QAValidator,
    QuestionAnswerer,
    QuestionGenerator,
    Reasoner,
    RunCommand,
)
from app.domain.report import Report
from app.strategies.hop_loop import (
    NOTHING_TO_ASK,
    HopHistory,
    answered,
    conclude,
    failed,
    interrupted,
    limit_reached,
    must_finish_now,
    reason_stalled,
    reason_to_stop,
)
from app.strategies.speculation import Ahead


@dataclass(frozen=True)
class QuestionGuided:
    """The loop over five interchangeable modules. Stateless."""

    verifier: ClaimVerifier
    generator: QuestionGenerator
    answerer: QuestionAnswerer
    validator: QAValidator
    reasoner: Reasoner
    speculative: bool = False
    """Start calls before they are known to be needed; useful when D, Q or V run on another machine."""

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield the run's events, the last one terminal. Closed hops of `so_far` are kept."""
        with Ahead(self.speculative, control) as ahead:
            trail = HopHistory.of(so_far)
            if not (so_far and so_far.stopped_because):
                reason = yield from _Questioning(self, claim, options, trail, control, ahead).whole(so_far)
                ahead.drop()
                if control and control.command() is RunCommand.STOP:
                    yield RunInterrupted(control.reason())
                    return
                yield QuestioningEnded(reason)
            yield from ahead.drained(conclude(self.reasoner, claim, trail, trail.context, options, control))


@dataclass(frozen=True)
class _Questioning:
    """The questions of one run. The tasks in `ahead` belong to the last hop of `trail` or to the current one."""

    parts: QuestionGuided
    claim: Claim
    options: RunOptions
    trail: HopHistory
    control: Control | None
    ahead: Ahead

    def whole(self, so_far: Report | None) -> Generator[Event, None, str]:
        """Ask hops until there is a reason to end, and return it. D's last judgement in `so_far` is reused."""
        if so_far and so_far.judged_after >= len(self.trail.hops):
            enough = bool(so_far.sufficiency and so_far.sufficiency.holds)
        else:
            enough = yield from self._is_enough()
        while not enough:
            if reason := self._reason_to_end(self.trail):
                return reason
            hop = yield from self._ask()
            if hop is None:
                return NOTHING_TO_ASK
            self.trail.hops.append(hop)
            if hop.status is not HopStatus.KEPT:
                self.ahead.drop()
            enough = yield from self._is_enough()
        return "The claim verifier was satisfied."

    def _reason_to_end(self, trail: HopHistory) -> str:
        """Return why no further question may be asked, or ""."""
        return reason_to_stop(self.control) or limit_reached(trail.hops, self.options) or reason_stalled(trail.own)

    def _ask(self) -> Generator[Event, None, Hop | None]:
        """Ask one hop and return it closed, or None when there is no question left."""
        number, module = self.trail.next_number, "question generator"
        hop = Hop(number, Question(""))
        try:
            question = self.ahead.take(("question", number), partial(self._next_question, self.trail))
            if question is None:
                return None
            hop, module = Hop(number, question), "answerer"
            hop = yield from answered(partial(self._answer, number, question), number, question, self.control)
            if hop.status is not HopStatus.OPEN:
                return hop
            if must_finish_now(self.control):
                return (yield from interrupted(hop))
            module = "QA validator"
            self._look_ahead(hop)
            judgement = self.parts.validator.is_useful(self.claim, self.trail.context, hop)
        except CallFailed as error:
            return (yield from failed(hop, module, error))
        if judgement.holds:
            yield HopKept(number, judgement.reason)
            return hop.closed(HopStatus.KEPT, judgement.reason)
        yield HopSetAside(number, judgement.reason)
        return hop.closed(HopStatus.SET_ASIDE, judgement.reason)

    def _look_ahead(self, hop: Hop) -> None:
        """Start the calls that follow if the hop is kept and not sufficient.

        To waste few tokens, the next answer waits after its first costly call and does not start after a rejected hop.
        """
        if not (self.ahead.on and hop.answer and hop.answer.text):
            return
        trail = replace(self.trail, hops=[*self.trail.hops, hop.closed(HopStatus.KEPT, "")])
        if self._reason_to_end(trail):
            return
        number = trail.next_number
        self.ahead.begin(("enough", hop.number), partial(self._sufficiency, trail.context))
        asked = self.ahead.begin(("question", number), partial(self._next_question, trail))
        if not self.trail.own or self.trail.own[-1].status is HopStatus.KEPT:
            self.ahead.begin(("answer", number), lambda: self._found(asked.value()), costly=1)

    def _is_enough(self) -> Generator[Event, None, bool]:
        """Ask D after a kept hop, unless the questioning ends anyway.

        A failed call is reported and counts as not sufficient.
        """
        hops = self.trail.hops
        changed = bool(hops) and hops[-1].status is HopStatus.KEPT
        if not changed or self._reason_to_end(self.trail):
            return False
        try:
            judgement = self.ahead.take(("enough", len(hops)), partial(self._sufficiency, self.trail.context))
        except CallFailed as error:
            yield StepFailed("claim verifier", str(error))
            return False
        yield SufficiencyJudged(judgement)
        return judgement.holds

    def _next_question(self, trail: HopHistory) -> Question | None:
        return trail.given or self.parts.generator.next_question(self.claim, trail.context, trail.set_aside)

    def _sufficiency(self, context: Context) -> Judgement:
        return self.parts.verifier.is_sufficient(self.claim, context)

    def _answer(self, number: int, question: Question) -> Answer:
        return self.ahead.take(("answer", number), partial(self._found, question))

    def _found(self, question: Question | None) -> Answer:
        """Return the answer. Raises CallCancelled when no question is left."""
        if question is None:
            raise CallCancelled
        return self.parts.answerer.answer(question, self.claim)
