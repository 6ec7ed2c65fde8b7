"""The pairs of an evidence pursuit: questions with their answers, asked once, or repeated as they are.

A question is never asked twice in the same words, so a kept hop that equals an earlier one is a repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from app.reasoning.errors import CallFailed
from app.reasoning.events import AnswerFound, Event, HopKept, HopSetAside, QuestionAsked
from app.reasoning.roles import Control
from app.reasoning.trail import Trail, answered, failed
from app.reasoning.types import Answer, Context, Hop, HopStatus, Question

NO_ANSWER = "No answer was found."


@dataclass
class Pairs(Trail):
    """The hops of one run, and which of them were really asked."""

    @property
    def asked(self) -> list[Hop]:
        """The hops without the repetitions."""
        return [hop for at, hop in enumerate(self.hops) if not any(_same(hop, other) for other in self.hops[:at])]

    @property
    def answered(self) -> Context:
        """The kept hops among the asked ones."""
        return Trail(self.asked).context

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
