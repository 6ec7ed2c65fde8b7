"""Who may fetch now: a few at once in all, and one at a time from each site."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.calls import insist_wanted
from app.domain.errors import CallFailed

AT_ONCE = 4
WAIT_SECONDS = 60.0
"""Four others of the longest take less than this."""


class Turns:
    """Shared by every thread of the process that fetches."""

    def __init__(self, at_once: int = AT_ONCE, wait_seconds: float = WAIT_SECONDS) -> None:
        self._at_once, self._wait_seconds = at_once, wait_seconds
        self._busy: set[str] = set()
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, site: str) -> Iterator[None]:
        """Wait for the site and for a place, and hold both inside the block. Raises CallFailed after a minute.

        A page that nobody wants any more when its turn has come is left.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._free(site), self._wait_seconds):
                raise CallFailed(f"{site} was not asked: other pages were still being fetched.")
            self._busy.add(site)
        try:
            insist_wanted()
            yield
        finally:
            with self._changed:
                self._busy.discard(site)
                self._changed.notify_all()

    def _free(self, site: str) -> bool:
        return site not in self._busy and len(self._busy) < self._at_once
