"""Several search engines as one: the first is asked, the next when it fails, so that a run goes on with what works."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from app.domain.errors import CallFailed
from app.domain.model import SearchHit
from app.domain.ports import WebSearch
from app.domain.progress import troubled

log = logging.getLogger(__name__)

REST_SECONDS = 300.0
"""How long one that failed comes after the others: a run must not wait for it at every hop."""


class InTurn:
    """Implements `WebSearch`. What did not work is noted in the report, and is the failure when nothing did.

    `name` is the first one's; `destination` names every host that may get a query.
    """

    def __init__(self, searches: Sequence[WebSearch], clock: Callable[[], float] = time.monotonic) -> None:
        """`searches` holds at least one; `clock` runs in seconds."""
        self.name = searches[0].name
        self.destination = " or ".join(dict.fromkeys(each.destination for each in searches if each.destination)) or None
        self._searches = tuple(searches)
        self._clock = clock
        self._failed: dict[int, float] = {}
        self._lock = threading.Lock()

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """The hits of the first one that answers. Raises CallFailed with every reason when none does."""
        reasons = []
        order = self._order()
        for at in order:
            try:
                found = self._searches[at].search(query, k, before)
            except CallFailed as failure:
                reasons.append(str(failure))
                self._note(at, failed=True)
                log.warning("%s", failure)
                if at != order[-1]:
                    troubled(f"{failure} Another search engine was asked instead.")
            else:
                self._note(at, failed=False)
                return found
        raise CallFailed(" ".join(reasons))

    def _order(self) -> list[int]:
        """Those that failed of late come last, and are asked all the same when the others fail."""
        with self._lock:
            now = self._clock()
            resting = {at for at, since in self._failed.items() if now - since < REST_SECONDS}
        return sorted(range(len(self._searches)), key=resting.__contains__)

    def _note(self, at: int, failed: bool) -> None:
        with self._lock:
            if failed:
                self._failed[at] = self._clock()
            else:
                self._failed.pop(at, None)


def each_first(searches: Sequence[WebSearch]) -> dict[str, InTurn]:
    """By its name each of them, with the others behind it for when it fails."""
    return {first.name: InTurn([first, *(each for each in searches if each is not first)]) for first in searches}
