"""Modules whose calls return round by round: those of one round only once all of them have started.

The number of rounds is thus the length of the longest chain of dependent calls, whatever the machine's speed; if two
calls of a round are not made in parallel, the run blocks and the test fails.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain import instrumentation as progress
from app.domain.instrumentation import Call, cached_call
from app.domain.model import Answer, Claim, Context, Hop, Judgement, Label, Question, Usage, Verdict
from app.domain.ports import RunCommand
from app.strategies.question_guided import QuestionGuided
from tests.fakes import SUPPORTED, answer
from tests.waiting import LONG


class Lockstep:
    """Holds each call until its round is complete. A call in no round returns at once and is recorded in `others`."""

    def __init__(self, rounds: Sequence[set[str]]) -> None:
        self._rounds = list(rounds)
        self._here: set[str] = set()
        self._changed = threading.Condition()
        self.done = 0
        self.others: list[str] = []

    def __call__(self, name: str) -> None:
        with self._changed:
            mine = next((at for at, names in enumerate(self._rounds) if name in names), None)
            if mine is None:
                self.others.append(name)
                return
            self._wait(lambda: self.done == mine, name)
            self._here.add(name)
            if self._here == self._rounds[mine]:
                self.done, self._here = mine + 1, set()
                self._changed.notify_all()
            self._wait(lambda: self.done > mine, name)

    def _wait(self, until, name: str) -> None:
        if not self._changed.wait_for(until, LONG):
            raise TimeoutError(f"{name} waits for the others of its round")


class Steered:
    """A Control that returns the commands in turn and then repeats the last, until a test sets others."""

    def __init__(self, *commands: RunCommand) -> None:
        self.commands = list(commands) or [RunCommand.CONTINUE]

    def command(self) -> RunCommand:
        return self.commands.pop(0) if len(self.commands) > 1 else self.commands[0]

    def reason(self) -> str:
        return "Somebody wished so."


@dataclass
class Modules:
    """The five modules: hop N ends as `outcomes` says ("kept", "set aside", "answerless"), `enough` ends them.

    An answer makes the model calls named in `answering`; `before` is called with each call's name and may block it. A
    question's text contains the number of known pairs and the questions that were set aside.
    """

    outcomes: Sequence[str]
    enough: int = 0
    answering: Sequence[str] = ()
    before: object = staticmethod(lambda name: None)
    calls: list[str] = field(default_factory=list)

    def strategy(self, speculative: bool = True) -> QuestionGuided:
        return QuestionGuided(self, self, self, self, self, speculative)

    def _call(self, name: str) -> None:
        progress.report_phase(name)
        cached_call(Call("lockstep", {"name": name}, costly=True), lambda: self._made(name))

    def _made(self, name: str) -> str:
        self.calls.append(name)
        self.before(name)
        progress.report_usage(Usage(1, 10, 2))
        return name

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        history = f"{len(context)}+{len(set_aside)}"
        self._call(f"question {history}")
        number = len(context) + len(set_aside) + 1
        return Question(f"Question {number} after {history}?") if number <= len(self.outcomes) else None

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        _, number, _, history = question.text.rstrip("?").split()
        for each in self.answering:
            self._call(f"{each} {history}")
        return answer(None if self.outcomes[int(number) - 1] == "answerless" else f"answer {number}")

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        if hop.answer is None or hop.answer.text is None:
            return Judgement(False, "There is no answer.")
        self._call(f"validation {hop.number}")
        return Judgement(self.outcomes[hop.number - 1] == "kept", "as scripted")

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        self._call(f"sufficiency {context[-1].number}")
        return Judgement(context[-1].number == self.enough, "as scripted")

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        self._call("conclusion")
        return SUPPORTED
