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

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from app.domain import events
from app.domain.errors import CallFailed
from app.domain.events import Event
from app.domain.messages import Code, Text, Words, code_of
from app.domain.model import (
    Answer,
    Claim,
    Context,
    Hop,
    HopStatus,
    Judgement,
    Label,
    Question,
    RunOptions,
    Sentence,
    Verdict,
)
from app.domain.ports import Ask, Control, Decide, Paraphraser, Pursuer, QuestionAnswerer, Reasoner
from app.domain.report import Report
from app.strategies.hop_loop import (
    HopHistory,
    ask_question,
    close_hop,
    conclude,
    fail_hop,
    limit_reached,
    reason_stalled,
    reason_to_stop,
)
from app.strategies.kind import ANSWERER, REASONER, Module, StrategyKind
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
    later: Pursuer | None = None
    """Takes every step after the first question; None for `pursuer`."""

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

    def ask_questions(self) -> Generator[Event, None, events.QuestioningEnded]:
        """Ask questions until there is no next one; return why the questions ended."""
        while not (reason := reason_to_stop(self.control)):
            hop = yield from self._next_hop()
            if hop is None:
                return events.QuestioningEnded(self.end_reason)
            self.history.hops.append(hop)
        return events.QuestioningEnded(reason, early=True)

    def conclude(self) -> Iterator[Event]:
        """Give the pursuer's decision if it made one and there is no late verdict, else the reasoner's verdict.

        The reasoner reads repeated pairs only with the padding "repeat".
        """
        decision = next((holds for holds, code in DECISIONS.items() if code is code_of(self.end_reason)), None)
        if decision is not None and not self.variant.late_verdict:
            yield events.VerdictReached(self._verdict_of(decision))
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
            return (self.parts.later or pursuer).next_step(self.claim, asked.context, asked.set_aside)
        return next((Ask(question) for question in pursuer.first_questions(self.claim, 1)), None)

    def _judgement(self, step: Ask | Decide | None) -> Judgement:
        if isinstance(step, Ask):
            return Judgement(False, Code.ONLY_REPEATED())
        if step is None:
            return Judgement(False, Code.NOTHING_TO_ASK())
        if not self.history.answered:
            return Judgement(False, Code.UNFOUNDED())
        # The late verdict may be another one.
        return Judgement(True, Code.SATISFIED() if self.variant.late_verdict else DECISIONS[step.holds]())

    def _end_own_questions(self, judgement: Judgement) -> Iterator[Event]:
        """End the pursuer's own questions; the judgement becomes an event only if there is a hop."""
        if self.history.hops:
            yield events.SufficiencyJudged(judgement)
        self.end_reason, self.own_count = judgement.reason, len(self.history.hops)

    def _last_decision(self, reason: Text) -> Iterator[Event]:
        """End the pursuer's own questions for `reason`; ask for one more step if the verdict needs its decision."""
        self.end_reason, self.own_count = reason, len(self.history.hops)
        if self.variant.late_verdict or self.variant.all_at_once or not self.history.answered:
            return
        try:
            step = self._step()
        except CallFailed as error:
            yield events.StepFailed("questioner", str(error))
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
        number = self.history.next_number
        find = partial(self.speculation.result, ("answer", question), partial(self._answer, question))
        try:
            hop = yield from ask_question(find, number, question, self.control)
        except CallFailed as error:
            return (yield from fail_hop(Hop(number, question), "answerer", error))
        if hop.status is not HopStatus.OPEN:
            return hop
        return (yield from close_hop(hop, bool(hop.answer_text), if_answered if hop.answer_text else Code.NO_ANSWER()))

    def _answer(self, question: Question) -> Answer:
        return self.parts.answerer.answer(question, self.claim)

    def _verdict_of(self, holds: bool) -> Verdict:
        pairs = HopHistory(self.history.hops[: self.own_count]).context
        sentences = (Sentence(f"{hop.question.text} {hop.answer_text}", (hop.number,)) for hop in pairs)
        closing = Sentence(DECISIONS[holds](), tuple(hop.number for hop in pairs))
        return Verdict(Label.SUPPORTED if holds else Label.REFUTED, (*sentences, closing))


@dataclass
class Pairs(HopHistory):
    """A hop history in which some hops repeat the pair of an earlier one."""

    @property
    def asked(self) -> list[Hop]:
        return [hop for at, hop in enumerate(self.hops) if not any(_same(hop, other) for other in self.hops[:at])]

    @property
    def answered(self) -> Context:
        """Return the kept hops without repetitions."""
        return HopHistory(self.asked).context

    def is_new(self, question: Question) -> bool:
        """Return whether the question has words and was not asked before."""
        return _folded(question) not in {"", *(_folded(hop.question) for hop in self.hops)}

    def repeat(self) -> Generator[Event, None, Hop]:
        """Repeat the next pair without asking anything. There must be at least one pair."""
        pairs = self.answered
        pair = pairs[(len(self.context) - len(pairs)) % len(pairs)]
        number, reason = self.next_number, Code.REPEATED_PAIR(hop=pair.number)
        yield events.QuestionAsked(number, pair.question)
        if pair.answer:
            yield events.AnswerFound(number, pair.answer)
        yield events.HopKept(number, reason)
        return Hop(number, pair.question, pair.answer, HopStatus.KEPT, reason)


def _same(hop: Hop, earlier: Hop) -> bool:
    kept = hop.status is HopStatus.KEPT and earlier.status is HopStatus.KEPT
    return kept and (hop.question, hop.answer) == (earlier.question, earlier.answer)


def _folded(question: Question) -> str:
    return " ".join(question.text.casefold().split())


MAX_PARAPHRASES = 4
"""Paraphrases of a question that are requested at once (section 3.1)."""


@dataclass
class Paraphrases:
    """The paraphrased questions of one run.

    The hops of `base` take turns, and one without a new paraphrase is skipped. `turn` is the number of paraphrases
    asked so far, failed ones included, so that the next ones are known and can be answered in parallel. `upcoming` may
    make a call before its turn; if it fails, `next` raises the stored error at that turn.
    """

    paraphraser: Paraphraser
    claim: Claim
    speculation: Speculation
    _by_hop: dict[int, tuple[Question, ...] | CallFailed] = field(default_factory=dict)

    def next(self, base: Sequence[Hop], turn: int, history: Pairs) -> tuple[Hop, Question] | None:
        """Return the next paraphrase that is new to `history`, with the hop of `base` that it paraphrases, or None.

        Raises CallFailed; the call is repeated at that hop's next turn.
        """
        try:
            return self._next(base, turn, history)
        except CallFailed:
            self._by_hop = {hop: words for hop, words in self._by_hop.items() if not isinstance(words, CallFailed)}
            raise

    def upcoming(self, base: Sequence[Hop], turn: int, history: Pairs, count: int) -> tuple[Question, ...]:
        """Return up to `count` of the next paraphrases; those of different hops are requested in parallel."""
        if not base:
            return ()
        for hop in (base[at % len(base)] for at in range(turn, turn + count)):
            if hop.number not in self._by_hop:
                self.speculation.start(("wordings", hop.number), partial(self._request, hop))
        hops = list(history.hops)
        with suppress(CallFailed):
            for at in range(turn, turn + count):
                if found := self._next(base, at, Pairs(hops)):
                    hops.append(Hop(len(hops) + 1, found[1]))
        return tuple(hop.question for hop in hops[len(history.hops) :])

    def _next(self, base: Sequence[Hop], turn: int, history: Pairs) -> tuple[Hop, Question] | None:
        for at in range(turn, turn + len(base)):
            hop = base[at % len(base)]
            if question := next((each for each in self._wordings(hop) if history.is_new(each)), None):
                return hop, question
        return None

    def _wordings(self, hop: Hop) -> tuple[Question, ...]:
        if hop.number not in self._by_hop:
            key, request = ("wordings", hop.number), partial(self._request, hop)
            try:
                self._by_hop[hop.number] = self.speculation.result(key, request)
            except CallFailed as error:
                self._by_hop[hop.number] = error
        words = self._by_hop[hop.number]
        if isinstance(words, CallFailed):
            raise words
        return words

    def _request(self, hop: Hop) -> tuple[Question, ...]:
        return self.paraphraser.paraphrase(self.claim, hop.question, MAX_PARAPHRASES)


QUESTIONER = Module(
    "questioner",
    Words("Questioner"),
    Words("Asks a question; after each answer it decides the claim, or asks one more."),
    "Ask",
)
PARAPHRASER = Module(
    "paraphraser",
    Words("Paraphraser"),
    Words("Puts a question in other words, so that it meets other documents and answers."),
    "Ask",
)
KIND = StrategyKind(
    "evidence-pursuit",
    title=Words("Evidence pursued by searching (Papelo)"),
    words=Words("pursuing evidence"),
    build=EvidencePursuit,
    roles=("first question", "next step", "answerer", "paraphraser", "reasoner"),
    modules=(QUESTIONER, ANSWERER, PARAPHRASER, REASONER),
    # It is judged only when the questioner's own questions end.
    at_work=lambda report: PARAPHRASER if report.judged_after else QUESTIONER,
)
