"""Wait for a condition instead of a fixed time, with a limit that only a fault reaches; and for a call in a thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Seen = TypeVar("Seen")

LONG = 120.0
"""Seconds. A step that takes one on an idle machine may take ten or more on a busy one."""

LONGER = 1.5 * LONG
"""Timeout in seconds that a test expects not to reach, because a notification comes first."""

PAUSES = 0.01, 0.2
"""First and longest pause between checks, in seconds; a check may load a page."""


def until(look: Callable[[], Seen], what: str = "what was waited for", seconds: float = LONG) -> Seen:
    """Return the first true result of `look`; after `seconds` fail the test, naming `what`."""
    deadline = time.monotonic() + seconds
    pause, longest = PAUSES
    while not (seen := look()):
        assert time.monotonic() < deadline, f"in {seconds:g} seconds there was not {what}"
        time.sleep(pause)
        pause = min(1.3 * pause, longest)
    return seen


def in_thread(function: Callable[..., Seen], *arguments: Any) -> Seen:
    """Return the result of the call in another thread: Playwright keeps an event loop running in the main one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()
