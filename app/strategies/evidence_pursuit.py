"""The evidence-pursuit strategy: Papelo's Algorithm 1 (Malon, FEVER 2024, arXiv 2411.05762, section 3.1).

    a first question, then, until n pairs:   a = A(q);   True, False or one more question, in one step
    paraphrases of the asked questions, with fresh answers, until n pairs
    R over all pairs gives label and rationale: the late verdict

A pair is a question with its answer: an answered question is kept, an unanswered one is set aside. Every asked
question counts against max_hops. The stage of a run follows from its hops and from the `SufficiencyJudged` event that
ended the pursuer's own questions, so an interrupted run resumes exactly.

With `speculative`, independent questions are answered in parallel (docs/critical-path.md).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from app.domain.errors import CallFailed
from app.domain.events import Event, QuestioningEnded, RunInterrupted, StepFailed, SufficiencyJudged, VerdictReached
from app.domain.model import Answer, Claim, Hop, HopStatus, Judgement, Label, Question, RunOptions, Sentence, Verdict
from app.domain.ports import Ask, Control, Decide, Paraphraser, Pursuer, QuestionAnswerer, Reasoner, RunCommand
from app.domain.report import Report
from app.strategies.hop_loop import (
    NOTHING_TO_ASK,
    HopHistory,
    conclude,
    failed,
    limit_reached,
    reason_stalled,
    reason_to_stop,
)
from app.strategies.paraphrasing import Pairs, Paraphrases, answer_text
from app.strategies.speculation import Ahead


@dataclass(frozen=True, slots=True)
class Variant:
    """Differences from the published algorithm: one row of the paper's Table 2."""

    pairs: int = 5  # the wanted number of pairs
    all_at_once: bool = False  # generate all questions in one call, independent of the answers
    padding: Literal["paraphrase", "repeat", "none"] = "paraphrase"  # how missing pairs are filled
    late_verdict: bool = True  # without it, a decision of the pursuer is the verdict
    inflate_to: int = 0  # repeat kept pairs up to this number; the verdict does not use the repetitions


MAX_PARALLEL_ANSWERS = 4
"""Questions that are answered at the same time."""

DECIDED = {
    True: "The questioner holds that the answers show the claim to be true.",
    False: "The questioner holds that the answers show the claim to be false.",
}
"""The reason text of a decision. A resumed run recognises its decision by this text."""
UNFOUNDED = "The questioner decided without any answer, which does not count."
REPEATED = "The questioner had nothing to ask but what had been asked."


@dataclass(frozen=True)
class EvidencePursuit:
    """Algorithm 1 over four interchangeable modules. Stateless."""

    pursuer: Pursuer
    paraphraser: Paraphraser
    answerer: QuestionAnswerer
    reasoner: Reasoner
    variant: Variant = Variant()
    speculative: bool = False
    """Answer questions in parallel; useful when answers are computed on another machine."""

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield the run's events, the last one terminal. Closed hops of `so_far` are kept."""
        with Ahead(self.speculative, control) as ahead:
            words = Paraphrases(self.paraphraser, claim, ahead)
            pursuit = _Pursuit(self, claim, options, Pairs.of(so_far), ahead, words, control)
            if so_far:
                pursuit.recall(so_far)
            if not (so_far and so_far.stopped_because):
                reason = yield from pursuit.question()
                ahead.drop()
                if control and control.command() is RunCommand.STOP:
                    yield RunInterrupted(control.reason())
                    return
                yield QuestioningEnded(reason)
            yield from ahead.drained(pursuit.conclude())


@dataclass
class _Pursuit:
    """The state of one run."""

    parts: EvidencePursuit
    claim: Claim
    options: RunOptions
    trail: Pairs
    ahead: Ahead
    words: Paraphrases
    control: Control | None = None
    ended: str = ""  # why the pursuer asks no more questions
    own: int = 0  # number of hops that the pursuer itself had asked by then
    opening: tuple[Question, ...] | None = None

    @property
    def variant(self) -> Variant:
        return self.parts.variant

    def recall(self, so_far: Report) -> None:
        """Restore how the pursuer's own questions ended, from the judgement or its failure."""
        if 0 < so_far.judged_after <= len(self.trail.hops):
            self.ended = so_far.sufficiency.reason if so_far.sufficiency else self._full()
            self.own = so_far.judged_after

    def question(self) -> Generator[Event, None, str]:
        """Ask hops until there is no next one; return why the pursuer stopped, or the control's reason."""
        while not (reason := reason_to_stop(self.control)):
            hop = yield from self._next_hop()
            if hop is None:
                return self.ended
            self.trail.hops.append(hop)
        return reason

    def conclude(self) -> Iterator[Event]:
        """Give the verdict over all pairs, or the pursuer's decision when there is no late verdict."""
        decision = next((holds for holds, reason in DECIDED.items() if reason == self.ended), None)
        if decision is not None and not self.variant.late_verdict:
            yield VerdictReached(self._decided(decision))
            return
        context = self.trail.context if self.variant.padding == "repeat" else self.trail.answered
        yield from conclude(self.parts.reasoner, self.claim, self.trail, context, self.options, self.control)

    def _next_hop(self) -> Generator[Event, None, Hop | None]:
        """Ask the branch's question, then the pursuer's own, then paraphrases; then repeat pairs."""
        if self.trail.given:
            return (yield from self._ask(self.trail.given, "The question has an answer."))
        hop = None if self.ended else (yield from self._own_hop())
        if hop is None and self.variant.padding == "paraphrase":
            hop = yield from self._reworded_hop()
        if hop is None and self.trail.answered and len(self.trail.context) < self._wanted_in_all():
            hop = yield from self.trail.repeat()
        return hop

    def _own_hop(self) -> Generator[Event, None, Hop | None]:
        """Ask the question of the pursuer's next step; return None and set `ended` when it asks none."""
        if full := self._full():
            yield from self._last_decision(full)
            return None
        if stalled := reason_stalled(self._leading_on()):
            yield from self._judged(Judgement(False, stalled))
            return None
        try:
            step = self._step()
        except CallFailed as error:
            return (yield from failed(Hop(self.trail.next_number, Question("")), "questioner", error))
        if isinstance(step, Ask) and self.trail.is_new(step.question):
            return (yield from self._ask(step.question, "The question has an answer."))
        yield from self._judged(self._judgement(step))
        return None

    def _step(self) -> Ask | Decide | None:
        """Return the first question, then the pursuer's next step; with `all_at_once` the next prepared question."""
        pursuer, asked = self.parts.pursuer, HopHistory(self.trail.asked)
        if self.variant.all_at_once:
            if self.opening is None:
                self.opening = pursuer.first_questions(self.claim, self.variant.pairs)[: self.variant.pairs]
            left = [question for question in self.opening if self.trail.is_new(question)]
            self._begin(lambda count: left[:count])
            return Ask(left[0]) if left else None
        if any(hop.question.text for hop in asked.hops):
            return pursuer.next_step(self.claim, asked.context, asked.set_aside)
        return next((Ask(question) for question in pursuer.first_questions(self.claim, 1)), None)

    def _judgement(self, step: Ask | Decide | None) -> Judgement:
        """Return the judgement for a step that asks no new question."""
        if isinstance(step, Ask):
            return Judgement(False, REPEATED)
        if step is None:
            return Judgement(False, NOTHING_TO_ASK)
        return Judgement(True, DECIDED[step.holds]) if self.trail.answered else Judgement(False, UNFOUNDED)

    def _judged(self, judgement: Judgement) -> Iterator[Event]:
        """End the pursuer's own questions; the judgement is reported only when there is a hop."""
        if self.trail.hops:
            yield SufficiencyJudged(judgement)
        self.ended, self.own = judgement.reason, len(self.trail.hops)

    def _last_decision(self, full: str) -> Iterator[Event]:
        """Ask for one more step once all pairs are found, if the verdict depends on it."""
        self.ended, self.own = full, len(self.trail.hops)
        if self.variant.late_verdict or self.variant.all_at_once or not self.trail.answered:
            return
        try:
            step = self._step()
        except CallFailed as error:
            yield StepFailed("questioner", str(error))
            return
        if isinstance(step, Decide):
            yield from self._judged(self._judgement(step))

    def _full(self) -> str:
        """Return why no further question may be asked, or ""."""
        pairs = len(self.trail.answered)
        complete = f"The wanted number of answers is there: {pairs}." if pairs >= self.variant.pairs else ""
        return complete or limit_reached(self.trail.asked, self.options)

    def _wanted_in_all(self) -> int:
        """Return the number of pairs up to which kept pairs are repeated."""
        return max(self.variant.inflate_to, self.variant.pairs if self.variant.padding == "repeat" else 0)

    def _leading_on(self) -> list[Hop]:
        """Return the hops that the next question depends on; none when all questions were made at once."""
        made = self.variant.all_at_once and any(hop.question.text for hop in self.trail.hops)
        return [] if made else [hop for hop in self.trail.asked if hop in self.trail.own]

    def _reworded_hop(self) -> Generator[Event, None, Hop | None]:
        """Ask the next paraphrase; return None when there is none or no further question may be asked."""
        asked = self.trail.asked
        base = [hop for hop in asked[: self.own] if hop.status is not HopStatus.FAILED]
        done = asked[self.own :]
        broken = len(done) > 1 and all(hop.status is HopStatus.FAILED for hop in done[-2:])
        if self._full() or broken:
            return None
        self._begin(partial(self.words.upcoming, base, len(done), self.trail))
        try:
            found = self.words.next(base, len(done), self.trail)
        except CallFailed as error:
            return (yield from failed(Hop(self.trail.next_number, Question("")), "paraphraser", error))
        if found is None:
            return None
        hop, question = found
        return (yield from self._ask(question, f"The question of hop {hop.number}, in other words."))

    def _begin(self, next_ones: Callable[[int], Iterable[Question]]) -> None:
        """Start answering the questions that will be asked in any case."""
        if self.ahead.on:
            asked, answered = len(self.trail.asked), len(self.trail.answered)
            room = min(self.variant.pairs - answered, self.options.max_hops - asked, MAX_PARALLEL_ANSWERS)
            for question in next_ones(room):
                self.ahead.begin(("answer", question), partial(self._answer, question))

    def _ask(self, question: Question, if_answered: str) -> Generator[Event, None, Hop]:
        find = partial(self.ahead.take, ("answer", question), partial(self._answer, question))
        return self.trail.ask(question, find, if_answered, self.control)

    def _answer(self, question: Question) -> Answer:
        return self.parts.answerer.answer(question, self.claim)

    def _decided(self, holds: bool) -> Verdict:
        """Return the decision as a verdict, supported by the pairs that existed when it was made."""
        pairs = HopHistory(self.trail.hops[: self.own]).context
        sentences = (Sentence(f"{hop.question.text} {answer_text(hop)}", (hop.number,)) for hop in pairs)
        closing = Sentence(DECIDED[holds], tuple(hop.number for hop in pairs))
        return Verdict(Label.SUPPORTED if holds else Label.REFUTED, (*sentences, closing))
