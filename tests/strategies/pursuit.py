"""Stateless scripted modules of evidence pursuit: their replies depend only on their arguments.

A resumed run thus gets the same replies. An exception in a script is raised by its call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.errors import CallFailed
from app.domain.model import Answer, Claim, Context, Hop, Label, Question, Verdict
from app.domain.ports import Ask, Decide
from app.strategies.evidence_pursuit import EvidencePursuit, Variant
from tests.fakes import SUPPORTED, answer

CLAIM = Claim("The author of Hamlet was born in England.", "A visitor", "2020-10-31")
FAILED = CallFailed("the provider did not answer in 15 s")
LATE = Verdict(Label.SUPPORTED, SUPPORTED.rationale, confidence=0.7)


@dataclass
class Script:
    """The four modules. Step N (from 0) is returned once N questions were asked: a question's text, True, False or
    None; past the last there is none. `answers` and `wordings` are looked up by the question's text; a question that
    is not there is answered by "answer to ..." and has the wordings "Q, 1?" to "Q, 4?".
    """

    steps: Sequence[Any] = ("First?", "Second?", True)
    opening: Sequence[str] | Exception = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    wordings: Mapping[str, Any] = field(default_factory=dict)
    verdict: Any = LATE
    calls: list[tuple] = field(default_factory=list)

    def strategy(self, variant: Variant = Variant(), speculative: bool = False) -> EvidencePursuit:  # noqa: B008 - it is frozen
        return EvidencePursuit(self, self, self, self, variant, speculative)

    def named(self, name: str) -> list[tuple]:
        """Return the calls of one module, without the module's name."""
        return [call[1:] for call in self.calls if call[0] == name]

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        self.calls.append(("first", claim, n))
        found = played(self.opening) if n > 1 else played([text] if (text := self.steps[0]) else [])
        return tuple(Question(played(text)) for text in found)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        self.calls.append(("step", claim, context, tuple(set_aside)))
        asked = len(context) + len(set_aside)
        step = played(self.steps[asked]) if asked < len(self.steps) else None
        return Ask(Question(step)) if isinstance(step, str) else None if step is None else Decide(step)

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        self.calls.append(("answer", question.text, claim))
        found = played(self.answers.get(question.text, f"answer to {question.text}"))
        return answer(found)

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        self.calls.append(("paraphrase", question.text, n))
        stem = question.text.rstrip("?")
        found = played(self.wordings.get(question.text, [f"{stem}, {k}?" for k in range(1, n + 1)]))
        return tuple(Question(text) for text in found)

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        self.calls.append(("conclude", claim, context, labels))
        return played(self.verdict)


def played(outcome: Any) -> Any:
    """Return the outcome, or raise it when it is an exception."""
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
