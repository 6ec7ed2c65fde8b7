"""The asked questions in other words, each in its turn (Papelo, arXiv 2411.05762, section 3.1).

Whose turn it is follows from how many were asked, not from what they brought: so the next ones are known beforehand,
and can be answered side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from app.domain.errors import CallFailed
from app.domain.events import AnswerFound, Event, HopKept, HopSetAside, QuestionAsked
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Question
from app.domain.ports import Control, Paraphraser
from app.strategies.hop_loop import HopHistory, answered, failed
from app.strategies.speculation import Ahead

# The pairs of an evidence pursuit: questions with their answers, asked once, or repeated as they are.
#
# A question is never asked twice in the same words, so a kept hop that equals an earlier one is a repetition.

NO_ANSWER = "No answer was found."


@dataclass
class Pairs(HopHistory):
    """The hops of one run, and which of them were really asked."""

    @property
    def asked(self) -> list[Hop]:
        """The hops without the repetitions."""
        return [hop for at, hop in enumerate(self.hops) if not any(_same(hop, other) for other in self.hops[:at])]

    @property
    def answered(self) -> Context:
        """The kept hops among the asked ones."""
        return HopHistory(self.asked).context

    def is_new(self, question: Question) -> bool:
        """Whether it has words, and not those of a question that was asked."""
        return _folded(question) not in {"", *(_folded(hop.question) for hop in self.hops)}

    def ask(
        self, question: Question, find: Callable[[], Answer], if_answered: str, control: Control | None = None
    ) -> Generator[Event, None, Hop]:
        """One hop from question to keeping; returns it closed. `find` is to bring its answer.

        `if_answered` is why it is kept if it has one.
        """
        number = self.next_number
        try:
            hop = yield from answered(find, number, question, control)
        except CallFailed as error:
            return (yield from failed(Hop(number, question), "answerer", error))
        if hop.status is not HopStatus.OPEN:
            return hop
        if answer_text(hop):
            yield HopKept(number, if_answered)
            return hop.closed(HopStatus.KEPT, if_answered)
        yield HopSetAside(number, NO_ANSWER)
        return hop.closed(HopStatus.SET_ASIDE, NO_ANSWER)

    def repeat(self) -> Generator[Event, None, Hop]:
        """The next pair once more, as it is, each in its turn. Nothing is asked for it; there must be a pair."""
        pairs = self.answered
        pair = pairs[(len(self.context) - len(pairs)) % len(pairs)]
        number, reason = self.next_number, f"The pair of hop {pair.number} once more."
        yield QuestionAsked(number, pair.question)
        if pair.answer:
            yield AnswerFound(number, pair.answer)
        yield HopKept(number, reason)
        return Hop(number, pair.question, pair.answer, HopStatus.KEPT, reason)


def answer_text(hop: Hop) -> str:
    """The words of the answer, empty where there is none."""
    return ((hop.answer.text or "") if hop.answer else "").strip()


def _same(hop: Hop, earlier: Hop) -> bool:
    kept = hop.status is HopStatus.KEPT and earlier.status is HopStatus.KEPT
    return kept and (hop.question, hop.answer) == (earlier.question, earlier.answer)


def _folded(question: Question) -> str:
    return " ".join(question.text.casefold().split())


MAX_PARAPHRASES = 4
"""So many other wordings of a question are asked for at once (section 3.1)."""


@dataclass
class Paraphrases:
    """The other wordings of one run. A call that failed stands until the turn in which it is told."""

    paraphraser: Paraphraser
    claim: Claim
    ahead: Ahead
    _words: dict[int, tuple[Question, ...] | CallFailed] = field(default_factory=dict)

    def next(self, base: Sequence[Hop], turn: int, trail: Pairs) -> tuple[Hop, Question] | None:
        """The hop of `base` whose turn it is, and its question in words that are new to `trail`; None without any.

        Raises CallFailed; the call is made anew when that hop's turn comes again.
        """
        try:
            return self._next(base, turn, trail)
        except CallFailed:
            self._words = {hop: words for hop, words in self._words.items() if not isinstance(words, CallFailed)}
            raise

    def upcoming(self, base: Sequence[Hop], turn: int, trail: Pairs, count: int) -> tuple[Question, ...]:
        """The next `count` of these questions, up to one that cannot be had; their wordings are asked side by side."""
        if not base:
            return ()
        for hop in (base[at % len(base)] for at in range(turn, turn + count)):
            if hop.number not in self._words:
                self.ahead.begin(("wordings", hop.number), partial(self._paraphrased, hop))
        hops = list(trail.hops)
        for at in range(turn, turn + count):
            try:
                found = self._next(base, at, Pairs(hops))
            except CallFailed:
                break
            if found is None:
                break
            hops.append(Hop(len(hops) + 1, found[1]))
        return tuple(hop.question for hop in hops[len(trail.hops) :])

    def _next(self, base: Sequence[Hop], turn: int, trail: Pairs) -> tuple[Hop, Question] | None:
        for at in range(turn, turn + len(base)):
            hop = base[at % len(base)]
            if question := next((each for each in self._wordings(hop) if trail.is_new(each)), None):
                return hop, question
        return None

    def _wordings(self, hop: Hop) -> tuple[Question, ...]:
        if hop.number not in self._words:
            try:
                self._words[hop.number] = self.ahead.take(("wordings", hop.number), partial(self._paraphrased, hop))
            except CallFailed as error:
                self._words[hop.number] = error
        words = self._words[hop.number]
        if isinstance(words, CallFailed):
            raise words
        return words

    def _paraphrased(self, hop: Hop) -> tuple[Question, ...]:
        return self.paraphraser.paraphrase(self.claim, hop.question, MAX_PARAPHRASES)
