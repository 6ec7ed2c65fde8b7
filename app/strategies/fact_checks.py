"""Look up published fact-checks beside a strategy, which never sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from app.domain.errors import HopcheckError
from app.domain.events import TERMINAL, Event, FactChecksFound, TroubleMet
from app.domain.model import Claim, FactCheck, RunOptions
from app.domain.ports import Control, Strategy
from app.domain.report import Report
from app.strategies.hop_loop import must_finish_now
from app.strategies.speculation import Speculation


@dataclass(frozen=True)
class WithFactChecks:
    """Implements `Strategy` by another one, whose events it passes on; before the last come those of the lookup.

    The lookup runs in a thread of its own from the start. Without a result when the run must end at once, it is left.
    """

    strategy: Strategy
    look_up: Callable[[str], tuple[FactCheck, ...]]

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]:
        """Yield the strategy's events and, before its end, FactChecksFound or TroubleMet."""
        work = partial(self.look_up, claim.text)
        with Speculation(control=control) as lookup:
            lookup.start("fact-checks", work)
            for event in self.strategy.run(claim, options, so_far, control):
                if isinstance(event, TERMINAL) and not must_finish_now(control):
                    yield self._found(lookup, work)
                yield event

    @staticmethod
    def _found(lookup: Speculation, work: Callable[[], tuple[FactCheck, ...]]) -> Event:
        try:
            return FactChecksFound(lookup.result("fact-checks", work))
        except HopcheckError as error:
            return TroubleMet(f"Published fact-checks could not be looked up. {error}")
