"""Question-answer pairs and paraphrased questions of an evidence pursuit (Papelo, arXiv 2411.05762, section 3.1).

The order of paraphrases depends only on how many were asked, so the next ones can be answered in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from app.domain.errors import CallFailed
from app.domain.events import AnswerFound, Event, HopKept, HopSetAside, QuestionAsked
from app.domain.messages import Code, Text
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Question
from app.domain.ports import Control, Paraphraser
from app.strategies.hop_loop import HopHistory, ask_question, fail_hop
from app.strategies.speculation import Speculation


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

    def ask(
        self, question: Question, find: Callable[[], Answer], if_answered: Text, control: Control | None = None
    ) -> Generator[Event, None, Hop]:
        """Ask one question and return the closed hop, kept for the reason `if_answered` if it has an answer."""
        number = self.next_number
        try:
            hop = yield from ask_question(find, number, question, control)
        except CallFailed as error:
            return (yield from fail_hop(Hop(number, question), "answerer", error))
        if hop.status is not HopStatus.OPEN:
            return hop
        if hop.answer_text:
            yield HopKept(number, if_answered)
            return hop.closed(HopStatus.KEPT, if_answered)
        yield HopSetAside(number, Code.NO_ANSWER())
        return hop.closed(HopStatus.SET_ASIDE, Code.NO_ANSWER())

    def repeat(self) -> Generator[Event, None, Hop]:
        """Repeat the next pair without asking anything. There must be at least one pair."""
        pairs = self.answered
        pair = pairs[(len(self.context) - len(pairs)) % len(pairs)]
        number, reason = self.next_number, Code.REPEATED_PAIR(hop=pair.number)
        yield QuestionAsked(number, pair.question)
        if pair.answer:
            yield AnswerFound(number, pair.answer)
        yield HopKept(number, reason)
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
    asked so far, failed ones included. `upcoming` may make a call before its turn; if it fails, `next` raises the
    stored error at that turn.
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
        for at in range(turn, turn + count):
            try:
                found = self._next(base, at, Pairs(hops))
            except CallFailed:
                break
            if found is None:
                break
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
            try:
                self._by_hop[hop.number] = self.speculation.result(
                    ("wordings", hop.number), partial(self._request, hop)
                )
            except CallFailed as error:
                self._by_hop[hop.number] = error
        words = self._by_hop[hop.number]
        if isinstance(words, CallFailed):
            raise words
        return words

    def _request(self, hop: Hop) -> tuple[Question, ...]:
        return self.paraphraser.paraphrase(self.claim, hop.question, MAX_PARAPHRASES)
