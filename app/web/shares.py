"""Nobody takes the whole waiting room: one address or token may fill half of it, the rest is for others.

RATE_LIMIT alone does not see to that. What one address may start in a minute can be as much as may wait, and where runs
take long it is soon everything. Who is where is known to this process alone and forgotten when it ends; several web
processes give each address a half each (docs/many-machines.md, "What is counted together").
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection

from flask import Flask, g, request

from app.runs.admission import UNKNOWN_SECONDS
from app.runs.service import TooManyWaiting
from app.web.current import hopcheck

WAITING = frozenset({"pages.start", "branching.branch", "api_runs.start", "api_steering.branch"})
"""The endpoints whose runs wait for a turn and count as waiting; those of batches do not."""


class Shares:
    """Who has begun the runs that wait. Safe to share between threads."""

    def __init__(self, most: int) -> None:
        """`most` of one's runs may wait."""
        self._most = most
        self._lock = threading.Lock()
        self._begun: dict[str, str] = {}
        self._coming: Counter[str] = Counter()

    def come(self, who: str, waiting: Callable[[], Collection[str]]) -> None:
        """Let `who` begin a run until `go`, or raise TooManyWaiting. `waiting` gives the ids of all runs that wait."""
        with self._lock:
            still = waiting()
            self._begun = {run_id: began for run_id, began in self._begun.items() if run_id in still}
            own = sum(began == who for began in self._begun.values())
            if own + self._coming[who] >= self._most:
                raise TooManyWaiting("Too many of your checks wait for their turn already.", UNKNOWN_SECONDS)
            self._coming[who] += 1

    def go(self, who: str, run_id: str | None) -> None:
        """What came has begun the run `run_id`, or none."""
        with self._lock:
            self._coming[who] -= 1
            self._coming += Counter()  # drops those at zero
            if run_id:
                self._begun[run_id] = who


def share_room(app: Flask, most: int, who: Callable[[], str]) -> None:
    """Let `who` is asking fill half of the room for `most` waiting runs; a room for one is not shared."""
    if most < 2:
        return
    shares = Shares(most // 2)

    @app.before_request
    def come() -> None:
        if request.endpoint in WAITING and request.method == "POST":
            shares.come(name := who(), hopcheck().runs.waiting)
            g.came_as = name

    @app.teardown_request
    def go(error: BaseException | None) -> None:
        if name := g.pop("came_as", None):
            shares.go(name, g.get("run_id"))
