"""Deterministic scripted modules: each reply depends only on the input, as with real models.

A run that another process resumes therefore gets the same replies there. Each call goes through `cached_call`, as in
the back ends; `calls` holds the steps whose calls were really made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain import instrumentation as progress
from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, cached_call
from app.domain.model import Answer, Claim, Context, Hop, Judgement, Label, Question, RunOptions, Usage, Verdict
from app.strategies.question_guided import QuestionGuided
from tests.fakes import TWO_HOPS, BeforeStep, FakeContainer, Script, ScriptedHop, answer


@dataclass
class Steady:
    """The five modules of a run on one script. A call finds its hop by the hop's number or question."""

    script: Script
    before_step: BeforeStep = lambda step: None
    calls: list[str] = field(default_factory=list)
    costly: bool = False  # whether runs share the replies

    def _play(self, step: str, outcome: Any) -> Any:
        """Make the call named `step`, unless its reply is stored."""
        progress.report_phase(step)

        def compute() -> str:
            self.before_step(step)
            self.calls.append(step)
            progress.report_usage(Usage(1, 10, 2))
            return step

        cached_call(Call("steady", {"step": step}, self.costly), compute)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        number = len(context) + len(set_aside) + 1
        if number > len(self.script.hops):
            return None
        return Question(self._play(f"question {number}", self.script.hops[number - 1].question))

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        number, hop = next((n, hop) for n, hop in enumerate(self.script.hops, 1) if hop.question == question.text)
        return self._play(f"answer {number}", hop.answer)

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        return self._play(f"validation {hop.number}", self.script.hops[hop.number - 1].useful)

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        number = context[-1].number
        return self._play(f"sufficiency {number}", self.script.hops[number - 1].enough)

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        return self._play("conclusion 1", self.script.verdict)

    def strategy_for(self, options: RunOptions) -> QuestionGuided:
        return QuestionGuided(self, self, self, self, self)


class SteadyContainer(FakeContainer):
    """A container whose runs all use the same Steady modules."""

    def __init__(
        self,
        script: Script = TWO_HOPS,
        before_step: BeforeStep = lambda step: None,
        refusal: Exception | None = None,
    ) -> None:
        super().__init__((script,), before_step, refusal)
        self.steady = Steady(script, before_step)

    def strategy_for(self, options: RunOptions) -> QuestionGuided:
        """Return a strategy over the same modules for every run."""
        if self.refusal:
            raise self.refusal
        return self.steady.strategy_for(options)


FAILED = CallFailed("the model did not answer in 60 s")


def scripted(names: list[str], enough: int, verdict) -> Script:
    """Return a script with one hop for each named outcome; the verifier is satisfied after hop number `enough`."""
    made = {"answerless": answer(None), "failed": FAILED}
    return Script(
        tuple(
            ScriptedHop(
                f"Question {n}?",
                made.get(name, answer(f"answer {n}")),
                Judgement(name == "kept", f"{name}, as scripted"),
                FAILED if n == enough + 1 else Judgement(n == enough, f"judged after {n}"),
            )
            for n, name in enumerate(names, 1)
        ),
        verdict,
    )
