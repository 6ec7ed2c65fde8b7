"""Counts who follows a running check. Each follower holds a server thread, so some must stay free for pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

THREADS_FOR_PAGES = 4


class Followers:
    """Seats for followers: all server threads but THREADS_FOR_PAGES, and at least one."""

    def __init__(self, threads: int) -> None:
        self.limit = max(1, threads - THREADS_FOR_PAGES)
        self._seated = 0
        self._lock = threading.Lock()

    @property
    def seated(self) -> int:
        """How many follow now."""
        return self._seated

    @property
    def room(self) -> bool:
        """Whether one more may follow now."""
        return self._seated < self.limit

    @contextmanager
    def seat(self) -> Iterator[bool]:
        """Take a seat for the block's length; False when there was none, and then the block must not linger."""
        with self._lock:
            taken = self.room
            self._seated += taken
        try:
            yield taken
        finally:
            with self._lock:
                self._seated -= taken
