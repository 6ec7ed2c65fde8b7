"""The evidence-pursuit strategy: Papelo's Algorithm 1 (Malon, FEVER 2024, arXiv 2411.05762, section 3.1).

    a first question, then, until n pairs:   a = A(q);   True, False or one more question, in one step
    paraphrases of the asked questions, with fresh answers, until n pairs
    R over all pairs gives label and rationale: the late verdict

A pair is a question with its answer: an answered question is kept, an unanswered one is set aside. Every asked
question counts against max_hops. The stage of a run follows from its hops and from the `SufficiencyJudged` event that
ended the pursuer's own questions, so an interrupted run resumes exactly.

With `speculative`, independent questions are answered in parallel (docs/how-it-works.md).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from app.domain.errors import CallFailed
from app.domain.events import Event, QuestioningEnded, StepFailed, SufficiencyJudged, VerdictReached
from app.domain.messages import Code, Text, code_of
from app.domain.model import Answer, Claim, Hop, HopStatus, Judgement, Label, Question, RunOptions, Sentence, Verdict
from app.domain.ports import Ask, Control, Decide, Paraphraser, Pursuer, QuestionAnswerer, Reasoner
from app.domain.report import Report
from app.strategies.hop_loop import (
    HopHistory,
    conclude,
    fail_hop,
    limit_reached,
    reason_stalled,
    reason_to_stop,
)
from app.strategies.paraphrasing import Pairs, Paraphrases
from app.strategies.speculation import Speculation


@dataclass(frozen=True, slots=True)
class Variant:
    """Differences from the published algorithm: one row of the paper's Table 2."""

    pairs: int = 5  # n, the number of pairs to collect
    all_at_once: bool = False  # generate all questions in one call, independent of the answers
    padding: Literal["paraphrase", "repeat", "none"] = "paraphrase"  # how missing pairs are made up
    late_verdict: bool = True  # without it, a decision of the pursuer is the verdict
    inflate_to: int = 0  # repeat kept pairs up to this number; the verdict does not use the repetitions


MAX_PARALLEL_ANSWERS = 4
"""Questions that are answered at the same time."""

DECISIONS = {True: Code.CALLED_TRUE, False: Code.CALLED_FALSE}


@dataclass(frozen=True)
class EvidencePursuit:
    """Implements `Strategy`: Algorithm 1 over four interchangeable modules. Stateless."""

    pursuer: Pursuer
    paraphraser: Paraphraser
    answerer: QuestionAnswerer
    reasoner: Reasoner
    variant: Variant = Variant()
    speculative: bool = False
    """Whether questions are answered in parallel; useful when answers are computed on another machine."""

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield the run's events, the last one terminal. Closed hops of `so_far` are kept."""
        with Speculation(self.speculative, control) as speculation:
            paraphrases = Paraphrases(self.paraphraser, claim, speculation)
            pursuit = _Pursuit(self, claim, options, Pairs.of(so_far), speculation, paraphrases, control)
            if so_far:
                pursuit.restore(so_far)
            if not (so_far and so_far.stopped_because):
                ended = yield from pursuit.ask_questions()
                speculation.cancel()
                yield ended
                pursuit.ended_early = ended.early
            yield from speculation.after_draining(pursuit.conclude())


@dataclass
class _Pursuit:
    parts: EvidencePursuit
    claim: Claim
    options: RunOptions
    history: Pairs
    speculation: Speculation
    paraphrases: Paraphrases
    control: Control | None = None
    end_reason: Text = ""  # why the pursuer asks no more questions; "" while it does
    own_count: int = 0  # number of hops when the pursuer's own questions ended
    prepared: tuple[Question, ...] | None = None  # all questions of an `all_at_once` variant
    ended_early: bool = False  # whether the owner's command or a limit ended the questions

    @property
    def variant(self) -> Variant:
        return self.parts.variant

    def restore(self, so_far: Report) -> None:
        """Restore why and where the pursuer's own questions ended, if they did."""
        self.ended_early = so_far.ended_early
        if 0 < so_far.judged_after <= len(self.history.hops):
            self.end_reason = so_far.sufficiency.reason if so_far.sufficiency else self._reason_to_ask_no_more()
            self.own_count = so_far.judged_after

    def ask_questions(self) -> Generator[Event, None, QuestioningEnded]:
        """Ask questions until there is no next one; return why the questions ended."""
        while not (reason := reason_to_stop(self.control)):
            hop = yield from self._next_hop()
            if hop is None:
                return QuestioningEnded(self.end_reason)
            self.history.hops.append(hop)
        return QuestioningEnded(reason, early=True)

    def conclude(self) -> Iterator[Event]:
        """Give the pursuer's decision if it made one and there is no late verdict, else the reasoner's verdict.

        The reasoner reads repeated pairs only with the padding "repeat".
        """
        decision = next((holds for holds, code in DECISIONS.items() if code is code_of(self.end_reason)), None)
        if decision is not None and not self.variant.late_verdict:
            yield VerdictReached(self._verdict_of(decision))
            return
        context = self.history.context if self.variant.padding == "repeat" else self.history.answered
        yield from conclude(self.parts.reasoner, self.claim, self.history, context, self.options, self.ended_early)

    def _next_hop(self) -> Generator[Event, None, Hop | None]:
        """Ask the next question: the branch's, then the pursuer's own, then paraphrases; after these repeat a pair."""
        if self.history.given:
            return (yield from self._ask(self.history.given, Code.ANSWERED()))
        hop = None if self.end_reason else (yield from self._own_hop())
        if hop is None and self.variant.padding == "paraphrase":
            hop = yield from self._paraphrased_hop()
        repeat_up_to = max(self.variant.inflate_to, self.variant.pairs if self.variant.padding == "repeat" else 0)
        if hop is None and self.history.answered and len(self.history.context) < repeat_up_to:
            hop = yield from self.history.repeat()
        return hop

    def _own_hop(self) -> Generator[Event, None, Hop | None]:
        """Ask the question of the pursuer's next step; return None and set `end_reason` when it asks none."""
        if reason := self._reason_to_ask_no_more():
            yield from self._last_decision(reason)
            return None
        if stalled := reason_stalled(self._preceding_hops()):
            yield from self._end_own_questions(Judgement(False, stalled))
            return None
        try:
            step = self._step()
        except CallFailed as error:
            return (yield from fail_hop(Hop(self.history.next_number, Question("")), "questioner", error))
        if isinstance(step, Ask) and self.history.is_new(step.question):
            return (yield from self._ask(step.question, Code.ANSWERED()))
        yield from self._end_own_questions(self._judgement(step))
        return None

    def _step(self) -> Ask | Decide | None:
        """Return the first question or the pursuer's next step; with `all_at_once`, the next prepared question."""
        pursuer, asked = self.parts.pursuer, HopHistory(self.history.asked)
        if self.variant.all_at_once:
            if self.prepared is None:
                self.prepared = pursuer.first_questions(self.claim, self.variant.pairs)[: self.variant.pairs]
            left = [question for question in self.prepared if self.history.is_new(question)]
            self._answer_ahead(lambda count: left[:count])
            return Ask(left[0]) if left else None
        if any(hop.question.text for hop in asked.hops):
            return pursuer.next_step(self.claim, asked.context, asked.set_aside)
        return next((Ask(question) for question in pursuer.first_questions(self.claim, 1)), None)

    def _judgement(self, step: Ask | Decide | None) -> Judgement:
        if isinstance(step, Ask):
            return Judgement(False, Code.ONLY_REPEATED())
        if step is None:
            return Judgement(False, Code.NOTHING_TO_ASK())
        return Judgement(True, DECISIONS[step.holds]()) if self.history.answered else Judgement(False, Code.UNFOUNDED())

    def _end_own_questions(self, judgement: Judgement) -> Iterator[Event]:
        """End the pursuer's own questions; the judgement becomes an event only if there is a hop."""
        if self.history.hops:
            yield SufficiencyJudged(judgement)
        self.end_reason, self.own_count = judgement.reason, len(self.history.hops)

    def _last_decision(self, reason: Text) -> Iterator[Event]:
        """End the pursuer's own questions for `reason`; ask for one more step if the verdict needs its decision."""
        self.end_reason, self.own_count = reason, len(self.history.hops)
        if self.variant.late_verdict or self.variant.all_at_once or not self.history.answered:
            return
        try:
            step = self._step()
        except CallFailed as error:
            yield StepFailed("questioner", str(error))
            return
        if isinstance(step, Decide):
            yield from self._end_own_questions(self._judgement(step))

    def _reason_to_ask_no_more(self) -> Text:
        pairs = len(self.history.answered)
        complete = Code.COMPLETE(count=pairs) if pairs >= self.variant.pairs else ""
        return complete or limit_reached(self.history.asked, self.options)

    def _preceding_hops(self) -> list[Hop]:
        """Return the run's own hops that the next question depends on; none if all questions are prepared."""
        prepared = self.variant.all_at_once and any(hop.question.text for hop in self.history.hops)
        return [] if prepared else [hop for hop in self.history.asked if hop in self.history.own]

    def _paraphrased_hop(self) -> Generator[Event, None, Hop | None]:
        asked = self.history.asked
        base = [hop for hop in asked[: self.own_count] if hop.status is not HopStatus.FAILED]
        done = asked[self.own_count :]
        keeps_failing = len(done) > 1 and all(hop.status is HopStatus.FAILED for hop in done[-2:])
        if self._reason_to_ask_no_more() or keeps_failing:
            return None
        self._answer_ahead(partial(self.paraphrases.upcoming, base, len(done), self.history))
        try:
            found = self.paraphrases.next(base, len(done), self.history)
        except CallFailed as error:
            return (yield from fail_hop(Hop(self.history.next_number, Question("")), "paraphraser", error))
        if found is None:
            return None
        hop, question = found
        return (yield from self._ask(question, Code.OTHER_WORDS(hop=hop.number)))

    def _answer_ahead(self, next_questions: Callable[[int], Iterable[Question]]) -> None:
        """Start answering the next questions in parallel; `next_questions(count)` returns them."""
        if self.speculation.is_on:
            asked, answered = len(self.history.asked), len(self.history.answered)
            room = min(self.variant.pairs - answered, self.options.max_hops - asked, MAX_PARALLEL_ANSWERS)
            for question in next_questions(room):
                self.speculation.start(("answer", question), partial(self._answer, question))

    def _ask(self, question: Question, if_answered: Text) -> Generator[Event, None, Hop]:
        find = partial(self.speculation.result, ("answer", question), partial(self._answer, question))
        return self.history.ask(question, find, if_answered, self.control)

    def _answer(self, question: Question) -> Answer:
        return self.parts.answerer.answer(question, self.claim)

    def _verdict_of(self, holds: bool) -> Verdict:
        pairs = HopHistory(self.history.hops[: self.own_count]).context
        sentences = (Sentence(f"{hop.question.text} {hop.answer_text}", (hop.number,)) for hop in pairs)
        closing = Sentence(DECISIONS[holds](), tuple(hop.number for hop in pairs))
        return Verdict(Label.SUPPORTED if holds else Label.REFUTED, (*sentences, closing))
