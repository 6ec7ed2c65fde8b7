"""Waiting for what must come: on its coming, never for a fixed time, and with a bound that only a fault reaches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")

LONG = 120.0
"""Seconds. What takes one on a quiet machine may take ten and more where much else goes on."""

LONGER = 1.5 * LONG
"""What a follower is let wait where the test says that it is told before."""

PAUSES = 0.01, 0.2
"""Seconds between the first two looks, and at most: a look may cost a page."""


def until(look: Callable[[], Seen], what: str = "what was waited for", seconds: float = LONG) -> Seen:
    """What `look` gives once it is true; after so many seconds the test fails and says `what`."""
    deadline = time.monotonic() + seconds
    pause, longest = PAUSES
    while not (seen := look()):
        assert time.monotonic() < deadline, f"in {seconds:g} seconds there was not {what}"
        time.sleep(pause)
        pause = min(1.3 * pause, longest)
    return seen
