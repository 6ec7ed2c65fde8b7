"""When a request is worth another try, and how long to wait before it.

Only what may pass by itself is tried again: too many requests (429), a server's own failure (5xx), a broken or refused
connection. Waits double, with jitter so that many runs do not come back at once, and are never shorter than the
server's Retry-After; a wait that would outlast the call's deadline is not begun.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from app.backends.http_outcome import Outcome
from app.domain.progress import entered

log = logging.getLogger(__name__)

TRIES = 4
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 8.0
WORTH_SAYING_SECONDS = 1.0
SPENT = ("insufficient_quota", "billing_hard_limit_reached", "QUOTA_LIMITED")
"""Codes of a 429 that no waiting mends, OpenAI's and Brave's: the account has nothing left."""


@dataclass(frozen=True)
class Patience:
    """Tries a request until it comes to something. `clock` runs in seconds, `now` is the time of day since 1970."""

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def outcome(self, request: Callable[[float], Outcome], deadline: float, host: str) -> Outcome:
        """The first outcome that is not worth another try, or the last one.

        `request` is handed the seconds that are left until `deadline`, a time of `clock`; `host` is for the log.
        """
        for tried in range(1, TRIES + 1):
            left = deadline - self.clock()
            if left <= 0:
                return Outcome(late=True)
            outcome = request(left)
            wait = self._wait(outcome, tried)
            if tried == TRIES or not passing(outcome) or self.clock() + wait >= deadline:
                break
            log.warning("%s: %s; trying again in %.1f s", host, outcome.status or outcome.trouble, wait)
            if wait >= WORTH_SAYING_SECONDS:
                entered(f"waiting {wait:.0f} s for {host}")
            self.sleep(wait)
        return outcome

    def _wait(self, outcome: Outcome, tried: int) -> float:
        """Seconds before the next try, after `tried` tries: half to the whole of a doubling span, or Retry-After."""
        span = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (tried - 1))
        return max(span * (0.5 + 0.5 * self.jitter()), retry_after(outcome, self.now()) or 0.0)


def passing(outcome: Outcome) -> bool:
    """Whether the same request may come to something else a little later."""
    if outcome.status == 429:
        return not any(code.encode() in outcome.content for code in SPENT)
    return outcome.status >= 500 or bool(outcome.trouble and not outcome.hopeless)


def retry_after(outcome: Outcome, now: float) -> float | None:
    """The seconds that the server asks to wait, from seconds or an HTTP date; None when it says nothing sensible."""
    said = outcome.headers.get("retry-after", "").strip()
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None
