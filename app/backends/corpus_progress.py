"""How far a build is, said every other second: documents, passages, speed, and the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY = 2.0


class Pace:
    """Tells `say` how reading goes on; `total` is in bytes."""

    def __init__(self, total: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._say, self._clock = total, say, clock
        self._already: int | None = None
        self._started = self._told = clock()

    def tell(self, read: int, documents: int, passages: int) -> None:
        """Say where the build stands, unless it was said just now. `read` counts all bytes from the source's start."""
        now = self._clock()
        if self._already is None:  # what a build that was killed had read was not read now
            self._already, self._started = read, now
        if now - self._told < EVERY:
            return
        self._told = now
        speed = (read - self._already) / max(now - self._started, 0.001)
        left = f", {duration((self._total - read) / speed)} left" if speed > 0 else ""
        share = f"{read / self._total:.0%}" if self._total else "100%"
        self._say(f"{share} read: {documents:,} documents, {passages:,} passages, {speed / 1e6:.1f} MB/s{left}")

    def tell_indexed(self, done: int, total: int) -> None:
        """Say how many passages are indexed, unless it was said just now; the last one is always said."""
        now = self._clock()
        if done == total or now - self._told >= EVERY:
            self._told = now
            self._say(f"indexed {done:,} of {total:,} passages")


def duration(seconds: float) -> str:
    """Seconds in words, to the nearest fitting unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
