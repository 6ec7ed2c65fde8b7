"""What bounds a run: its own time, calls, tokens and money, what the whole site may spend in a day, its owner's wish.

Reaching a limit is no failure. The strategy is told to conclude with what it has, and the page says which limit it was.
The conclusion itself may still make its calls. The owner's wish is kept with the run, so it is heard wherever the run
is carried out, and after a take-over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from app.domain.events import RunResumed, RunStarted
from app.domain.model import Usage
from app.domain.ports import Wish
from app.runs.event_store import WAITING, StoredEvent

LOOK_AGAIN_SECONDS = 0.2
"""What the owner wants comes with every event that is stored. After so long without one it is looked up."""

ASKED = "Its owner asked for a conclusion from what was there."


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is enough; None for no limit. Money is in the currency of the operator's prices."""

    seconds: float | None = None
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    day_calls: int | None = None
    day_tokens: int | None = None
    day_cost: float | None = None

    def reached_by_run(self, usage: Usage) -> str:
        """The limit of one run that this usage reaches, in words, or ""."""
        return _reached(usage, self.calls, self.tokens, self.cost)

    def reached_by_day(self, today: Callable[[], Usage]) -> str:
        """The limit of a day that the site has reached, in words, or ""; `today` is asked only if there is one."""
        if (self.day_calls, self.day_tokens, self.day_cost) == (None, None, None):
            return ""
        return _reached(today(), self.day_calls, self.day_tokens, self.day_cost)


class RunControl:
    """The Control of one run. It starts from what the run has used and worked already, before a take-over."""

    def __init__(
        self,
        limits: Limits,
        today: Callable[[], Usage],
        used: Usage = Usage(),  # noqa: B008 - it is frozen
        worked: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        asked: Callable[[], Wish] = lambda: Wish.GO_ON,
    ) -> None:
        """`asked` looks what the run's owner wants, which takes a statement, and is told meanwhile to `hear`."""
        self._limits = limits
        self._today = today
        self._used = used
        self._counting = threading.Lock()
        self._clock = clock
        self._began = clock() - worked
        self._reason = ""
        self._asked = asked
        self._hurried = False
        self._heard_at = float("-inf")

    def count(self, usage: Usage) -> None:
        """A call of this run was made, in whichever thread."""
        with self._counting:
            self._used += usage

    def hear(self, wish: Wish) -> None:
        """What the owner wants at this moment. Nobody takes it back to have asked for a conclusion."""
        self._hurried = self._hurried or wish is Wish.CONCLUDE_NOW
        self._heard_at = self._clock()

    def wish(self) -> Wish:
        """CONCLUDE from the moment a limit is reached, CONCLUDE_NOW when the owner asks for it."""
        if not self._hurried and self._clock() - self._heard_at >= LOOK_AGAIN_SECONDS:
            self.hear(self._asked())
        if self._hurried:
            self._reason = self._reason or ASKED
            return Wish.CONCLUDE_NOW
        self._reason = self._reason or self._reached()
        return Wish.CONCLUDE if self._reason else Wish.GO_ON

    def reason(self) -> str:
        """Who asked, or which limit was reached, in a sentence with its number."""
        return self._reason

    def _reached(self) -> str:
        seconds = self._limits.seconds
        if seconds is not None and self._clock() - self._began >= seconds:
            return f"The limit of {seconds:g} second{'s' * (seconds != 1)} for one check was reached."
        if reached := self._limits.reached_by_run(self._used):
            return f"The limit of {reached} for one check was reached."
        if reached := self._limits.reached_by_day(self._today):
            return f"This site's limit of {reached} a day was reached."
        return ""


def worked_seconds(stored: Iterable[StoredEvent]) -> float:
    """How long a run has been worked on: without its wait, and without the gaps before it was taken up again."""
    idle = (RunStarted, RunResumed)
    return sum(
        later.seconds - earlier.seconds
        for earlier, later in pairwise(stored)
        if earlier.event != WAITING and not isinstance(earlier.event, RunStarted) and not isinstance(later.event, idle)
    )


def _reached(usage: Usage, calls: int | None, tokens: int | None, cost: float | None) -> str:
    if calls is not None and usage.calls >= calls:
        return f"{calls:,} call{'s' * (calls != 1)}"
    if tokens is not None and usage.tokens >= tokens:
        return f"{tokens:,} token{'s' * (tokens != 1)}"
    if cost is not None and usage.cost and usage.cost >= cost:  # calls without a price never reach a limit of 0
        return f"{cost:g} in cost"
    return ""
