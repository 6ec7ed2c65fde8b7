"""The evidence-pursuit strategy: Papelo's Algorithm 1 (Malon, FEVER 2024, arXiv 2411.05762, section 3.1).

    a first question, then, until n pairs:   a = A(q);   True, False or one more question, in one step
    paraphrases of the asked questions, with fresh answers, until n pairs
    R over all pairs gives label and rationale: the late verdict

A pair is a question with its answer: an answered question is kept, an unanswered one is set aside. Every asked
question counts against max_hops. Which stage a run is in follows from its hops and from the reply that ended the
pursuer's own questions, which is shown as `SufficiencyJudged`; so a run goes on exactly where it was cut off.

With head starts, questions that do not follow from each other are answered side by side (docs/critical-path.md).
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

# In what ways a pursuit of evidence may differ from the published one: the rows of the paper's Table 2.


@dataclass(frozen=True, slots=True)
class Variant:
    """One row: what a run does differently.

    `pairs` are wanted in all. `all_at_once`: the questions are asked for in one list, at most `pairs`, and none follows
    from an answer. `padding` makes up the missing pairs: other wordings with fresh answers, the kept pairs once more
    as they are, or nothing. Without `late_verdict` a decided next step is the verdict. `inflate_to` repeats kept pairs
    up to that number, in which the verdict takes no part.
    """

    pairs: int = 5
    all_at_once: bool = False
    padding: Literal["paraphrase", "repeat", "none"] = "paraphrase"
    late_verdict: bool = True
    inflate_to: int = 0


MAX_PARALLEL_ANSWERS = 4
"""So many questions are answered at the same time."""

DECIDED = {
    True: "The questioner holds that the answers show the claim to be true.",
    False: "The questioner holds that the answers show the claim to be false.",
}
"""How a decided next step is told. A run that is taken up again reads its decision from these words."""
UNFOUNDED = "The questioner decided without any answer, which does not count."
REPEATED = "The questioner had nothing to ask but what had been asked."


@dataclass(frozen=True)
class EvidencePursuit:
    """Algorithm 1 over four modules, each replaceable alone. Holds no state of any run."""

    pursuer: Pursuer
    paraphraser: Paraphraser
    answerer: QuestionAnswerer
    reasoner: Reasoner
    variant: Variant = Variant()
    speculative: bool = False
    """Whether questions are answered side by side: worth it where answers wait for another machine."""

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield what happens; the last event is terminal. Of `so_far` stands every hop but one that was cut off."""
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
    """One run. `ended` says why the pursuer asks no more, and `own` is how many of the hops are its own by then."""

    parts: EvidencePursuit
    claim: Claim
    options: RunOptions
    trail: Pairs
    ahead: Ahead
    words: Paraphrases
    control: Control | None = None
    ended: str = ""
    own: int = 0
    opening: tuple[Question, ...] | None = None

    @property
    def variant(self) -> Variant:
        return self.parts.variant

    def recall(self, so_far: Report) -> None:
        """Know again how the pursuer's own questions ended, where they had: it was judged then, or failed to be."""
        if 0 < so_far.judged_after <= len(self.trail.hops):
            self.ended = so_far.sufficiency.reason if so_far.sufficiency else self._full()
            self.own = so_far.judged_after

    def question(self) -> Generator[Event, None, str]:
        """Hop after hop until nothing brings another; returns why the pursuer asked no more, or control's reason."""
        while not (reason := reason_to_stop(self.control)):
            hop = yield from self._next_hop()
            if hop is None:
                return self.ended
            self.trail.hops.append(hop)
        return reason

    def conclude(self) -> Iterator[Event]:
        """The verdict over all pairs; where it is not to be late, the decision that a step has made."""
        decision = next((holds for holds, told in DECIDED.items() if told == self.ended), None)
        if decision is not None and not self.variant.late_verdict:
            yield VerdictReached(self._decided(decision))
            return
        context = self.trail.context if self.variant.padding == "repeat" else self.trail.answered
        yield from conclude(self.parts.reasoner, self.claim, self.trail, context, self.options)

    def _next_hop(self) -> Generator[Event, None, Hop | None]:
        """A question of the pursuer's own while it has some, then one in other words, then a pair once more.

        Before them all comes the question that a branch was made to ask.
        """
        if self.trail.given:
            return (yield from self._ask(self.trail.given, "The question has an answer."))
        hop = None if self.ended else (yield from self._own_hop())
        if hop is None and self.variant.padding == "paraphrase":
            hop = yield from self._reworded_hop()
        if hop is None and self.trail.answered and len(self.trail.context) < self._wanted_in_all():
            hop = yield from self.trail.repeat()
        return hop

    def _own_hop(self) -> Generator[Event, None, Hop | None]:
        """The next step, and its question asked; None, and `ended`, when it asks none."""
        if full := self._full():
            yield from self._last_decision(full)
            return None
        if tired := reason_stalled(self._leading_on()):
            yield from self._judged(Judgement(False, tired))
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
        """The first question while none was asked, then the next step; or the next of the questions made at once."""
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
        """What a step that asks nothing new says of the context."""
        if isinstance(step, Ask):
            return Judgement(False, REPEATED)
        if step is None:
            return Judgement(False, NOTHING_TO_ASK)
        return Judgement(True, DECIDED[step.holds]) if self.trail.answered else Judgement(False, UNFOUNDED)

    def _judged(self, judgement: Judgement) -> Iterator[Event]:
        """The pursuer's own questions end so; without any hop there is nothing to say it of, and nothing to recall."""
        if self.trail.hops:
            yield SufficiencyJudged(judgement)
        self.ended, self.own = judgement.reason, len(self.trail.hops)

    def _last_decision(self, full: str) -> Iterator[Event]:
        """With every pair there, one more step is asked for only where the verdict depends on it."""
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
        """Why there is no room for another question, or nothing."""
        pairs = len(self.trail.answered)
        there = f"The wanted number of answers is there: {pairs}." if pairs >= self.variant.pairs else ""
        return there or limit_reached(self.trail.asked, self.options)

    def _wanted_in_all(self) -> int:
        """Up to how many pairs those that are there are repeated."""
        return max(self.variant.inflate_to, self.variant.pairs if self.variant.padding == "repeat" else 0)

    def _leading_on(self) -> list[Hop]:
        """The hops that the next one follows from: of questions made at once none, once they have been made."""
        made = self.variant.all_at_once and any(hop.question.text for hop in self.trail.hops)
        return [] if made else [hop for hop in self.trail.asked if hop in self.trail.own]

    def _reworded_hop(self) -> Generator[Event, None, Hop | None]:
        """An asked question in other words, each in its turn; None when there is room or words for none."""
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
        """Answer so many as are asked in any case, unless the run is told to end or can get no answers at all."""
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
        """The decision as a verdict; it rests on the pairs that were there when it was made."""
        pairs = HopHistory(self.trail.hops[: self.own]).context
        told = (Sentence(f"{hop.question.text} {answer_text(hop)}", (hop.number,)) for hop in pairs)
        closing = Sentence(DECIDED[holds], tuple(hop.number for hop in pairs))
        return Verdict(Label.SUPPORTED if holds else Label.REFUTED, (*told, closing))
