"""The claim-only baselines of QACheck's Table 1, which use no questions and no evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from app.domain.errors import CallFailed
from app.domain.events import Event, QuestioningEnded, RunFailed, VerdictReached
from app.domain.messages import Code, Words
from app.domain.model import Claim, Label, RunOptions, Verdict
from app.domain.ports import Control, RunCommand
from app.domain.report import Report
from app.strategies.kind import StrategyKind


class ClaimOnlyClassifier(Protocol):
    """Returns a verdict from the claim alone. May raise `CallFailed`."""

    def verdict_on(self, claim: Claim, labels: Sequence[Label]) -> Verdict: ...


@dataclass(frozen=True)
class ClaimOnly:
    """Implements `Strategy` with one model call and no hops. Stateless."""

    classifier: ClaimOnlyClassifier

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield the run's events, the last one terminal. `so_far` is ignored: there are no hops to keep."""
        # A limit was reached. FINISH_NOW, the owner's request for a verdict, still gets the one call that gives it.
        if control and control.command() is RunCommand.FINISH_AFTER_HOP:
            yield QuestioningEnded(control.reason(), early=True)
            yield VerdictReached(Verdict(Label.NOT_ENOUGH_EVIDENCE, (), missing=Code.MODEL_NOT_ASKED()))
            return
        yield QuestioningEnded(Code.CLAIM_ALONE())
        try:
            verdict = self.classifier.verdict_on(claim, options.labels.labels)
        except CallFailed as error:
            yield RunFailed(Code.FAILED(module="model", problem=str(error)))
            return
        yield VerdictReached(verdict)


_baseline = partial(StrategyKind, build=ClaimOnly, roles=("asker",), needs=("language model",))
DIRECT = _baseline(
    "direct", title=Words("Baseline: a language model, asked directly"), words=Words("a language model, asked directly")
)
CHAIN_OF_THOUGHT = _baseline(
    "chain-of-thought",
    title=Words("Baseline: a language model that thinks step by step"),
    words=Words("a language model that thinks step by step"),
)
