"""The question-guided strategy: QACheck's loop (Pan et al., EMNLP 2023 demos, arXiv 2310.07609, section 3).

    C = {}
    until D(c, C) says enough, or max_hops:   q = Q(c, C);  a, e = A(q);  if V(c, (q, a), C) then C += (q, a)
    R(c, C) gives label and rationale

Every asked hop counts, kept or not. D is asked only when C has changed. Hopcheck does not ask D or R about an empty C,
and two consecutive hops that are not kept end the questioning; hops that a branch inherited do not count. With
`as_published`, as in the paper, D and R are asked about an empty C too, and only two failed hops end the questioning.

With `speculative`, D, the next Q and the next A start while V judges the answer, since most answers are kept and not
sufficient. `run` yields the same events without it, in the same order; only the costs of calls come earlier, and those
of unneeded calls are added (docs/how-it-works.md).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from app.domain.errors import CallFailed
from app.domain.events import Event, QuestioningEnded, StepFailed, SufficiencyJudged, VerdictReached
from app.domain.instrumentation import CallCancelled
from app.domain.messages import Code, Message, Text, Words
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Judgement, Label, Question, RunOptions, Verdict
from app.domain.ports import ClaimVerifier, Control, QAValidator, QuestionAnswerer, QuestionGenerator, Reasoner
from app.domain.report import Report
from app.strategies.hop_loop import (
    HopHistory,
    ask_question,
    close_hop,
    conclude,
    fail_hop,
    interrupt_hop,
    limit_reached,
    must_finish_now,
    reason_stalled,
    reason_to_stop,
)
from app.strategies.kind import ANSWERER, REASONER, Module, StrategyKind
from app.strategies.speculation import Speculation


@dataclass(frozen=True)
class QuestionGuided:
    """Implements `Strategy`: the loop over five interchangeable modules. Stateless."""

    verifier: ClaimVerifier  # D
    generator: QuestionGenerator  # Q
    answerer: QuestionAnswerer  # A
    validator: QAValidator  # V
    reasoner: Reasoner  # R
    speculative: bool = False
    """Start calls before they are known to be needed; useful when D, Q or V run on another machine."""
    as_published: bool = False
    """Whether a rejected pair always leads to another question, and an empty context to D and R too."""
    why_uncheckable: Callable[[Claim], Message | None] | None = None
    """Returns why no source can decide the claim, None where one may. Asked before the first question of a check."""
    prepare: Callable[[Claim], Claim] | None = None
    """Returns the claim as the modules read it. It may search; where it raises CallFailed the claim stays as it is."""

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield the run's events, the last one terminal. Closed hops of `so_far` are kept."""
        reason = None
        with suppress(CallFailed):
            claim = self.prepare(claim) if self.prepare else claim
            is_new = not (so_far and (so_far.hops or so_far.branch))
            reason = self.why_uncheckable(claim) if self.why_uncheckable and is_new else None
        if reason:
            if not (so_far and so_far.stopped_because):
                yield QuestioningEnded(Code.NOTHING_TO_ASK())
            yield VerdictReached(Verdict(Label.NOT_ENOUGH_EVIDENCE, (), reason))
            return
        with Speculation(self.speculative, control) as speculation:
            history = HopHistory.of(so_far)
            ended_early = bool(so_far and so_far.ended_early)
            if not (so_far and so_far.stopped_because):
                questioning = _Questioning(self, claim, options, history, control, speculation)
                ended = yield from questioning.ask_questions(so_far)
                speculation.cancel()
                yield ended
                ended_early = ended.early
            yield from speculation.after_draining(
                conclude(self.reasoner, claim, history, history.context, options, ended_early, self.as_published)
            )


@dataclass(frozen=True)
class _Questioning:
    """The questions of one run. Its speculative tasks were started during the current hop or the one before it."""

    parts: QuestionGuided
    claim: Claim
    options: RunOptions
    history: HopHistory
    control: Control | None
    speculation: Speculation

    def ask_questions(self, so_far: Report | None) -> Generator[Event, None, QuestioningEnded]:
        """Ask questions until there is a reason to end, and return it. D's last judgement in `so_far` is reused."""
        if so_far and so_far.judged_after >= len(self.history.hops) and (self.history.hops or so_far.sufficiency):
            enough = bool(so_far.sufficiency and so_far.sufficiency.holds)
        else:
            enough = yield from self._is_enough()
        while self.history.given or not enough:  # a question that was added to a branch is asked in any case
            if reason := reason_to_stop(self.control):
                return QuestioningEnded(reason, early=True)
            if reason := self._reason_without_command(self.history):
                return QuestioningEnded(reason)
            hop = yield from self._ask()
            if hop is None:
                return QuestioningEnded(Code.NOTHING_TO_ASK())
            self.history.hops.append(hop)
            if hop.status is not HopStatus.KEPT:
                self.speculation.cancel()
            enough = yield from self._is_enough()
        return QuestioningEnded(Code.SATISFIED() if self.history.context else Code.NOTHING_ASKED())

    def _reason_to_end(self, history: HopHistory) -> Text:
        return reason_to_stop(self.control) or self._reason_without_command(history)

    def _reason_without_command(self, history: HopHistory) -> Text:
        stalled = reason_stalled(history.own, only_failed=self.parts.as_published)
        return limit_reached(history.hops, self.options) or stalled

    def _ask(self) -> Generator[Event, None, Hop | None]:
        number, module = self.history.next_number, "question generator"
        hop = Hop(number, Question(""))
        try:
            question = self.speculation.result(("question", number), partial(self._next_question, self.history))
            if question is None:
                return None
            hop, module = Hop(number, question), "answerer"
            find = partial(self.speculation.result, ("answer", number), partial(self._answer_to, question))
            hop = yield from ask_question(find, number, question, self.control)
            if hop.status is not HopStatus.OPEN:
                return hop
            if must_finish_now(self.control):
                return (yield from interrupt_hop(hop))
            module = "QA validator"
            self._start_next_calls(hop)
            judgement = self.parts.validator.is_useful(self.claim, self.history.context, hop)
        except CallFailed as error:
            return (yield from fail_hop(hop, module, error))
        return (yield from close_hop(hop, judgement.holds, judgement.reason))

    def _start_next_calls(self, hop: Hop) -> None:
        """Start the calls that follow if the hop is kept and not sufficient.

        To save tokens, the next answer is started only if the previous hop, if any, was kept, and makes at most one
        costly call before its result is needed.
        """
        if not (self.speculation.is_on and hop.answer and hop.answer.text):
            return
        history = replace(self.history, hops=[*self.history.hops, hop.closed(HopStatus.KEPT, "")])
        if self._reason_to_end(history):
            return
        number = history.next_number
        self.speculation.start(("enough", hop.number), partial(self._sufficiency, history.context))
        asked = self.speculation.start(("question", number), partial(self._next_question, history))
        if not self.history.own or self.history.own[-1].status is HopStatus.KEPT:
            self.speculation.start(("answer", number), lambda: self._answer_to(asked.value()), max_costly_calls=1)

    def _is_enough(self) -> Generator[Event, None, bool]:
        """Ask D after a kept hop, and `as_published` before the first, unless the questioning ends anyway.

        A failed call is reported and counts as not sufficient.
        """
        hops = self.history.hops
        changed = hops[-1].status is HopStatus.KEPT if hops else self.parts.as_published
        if not changed or self._reason_to_end(self.history):
            return False
        try:
            judgement = self.speculation.result(("enough", len(hops)), partial(self._sufficiency, self.history.context))
        except CallFailed as error:
            yield StepFailed("claim verifier", str(error))
            return False
        yield SufficiencyJudged(judgement)
        return judgement.holds

    def _next_question(self, history: HopHistory) -> Question | None:
        return history.given or self.parts.generator.next_question(self.claim, history.context, history.set_aside)

    def _sufficiency(self, context: Context) -> Judgement:
        return self.parts.verifier.is_sufficient(self.claim, context)

    def _answer_to(self, question: Question | None) -> Answer:
        """Return the answer. Raises CallCancelled when no question is left."""
        if question is None:
            raise CallCancelled
        return self.parts.answerer.answer(question, self.claim, self.history.context)


VERIFIER = Module(
    "verifier", Words("Claim verifier"), Words("Decides whether the answers so far are enough for a verdict.")
)
GENERATOR = Module(
    "generator",
    Words("Question generator"),
    Words("Asks for the next thing to know, building on the answers so far."),
    "Ask",
)
VALIDATOR = Module(
    "validator",
    Words("QA validator"),
    Words("Decides whether an answer helps with the claim, so that it is used, or not."),
)


def _at_work(report: Report) -> Module:
    last = report.hops[-1] if report.hops else None
    if last and last.status is HopStatus.OPEN:
        return VALIDATOR
    kept = last is not None and last.status is HopStatus.KEPT
    return VERIFIER if kept and report.judged_after < len(report.hops) else GENERATOR


KIND = StrategyKind(
    "question-guided",
    title=Words("One question at a time (QACheck)"),
    words=Words("question by question"),
    build=QuestionGuided,
    roles=("claim verifier", "question generator", "answerer", "QA validator", "reasoner"),
    modules=(GENERATOR, ANSWERER, VALIDATOR, VERIFIER, REASONER),
    at_work=_at_work,
)
