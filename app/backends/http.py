"""Calls over HTTP: outcomes, retries with a deadline, and host names in messages."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from app.domain.progress import entered

GRACE_SECONDS = 2.0
"""How long the event loop may take to notice that a deadline has passed."""

QUOTED_CHARACTERS = 200

_starting = threading.Lock()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one request: a reply with its HTTP status, or (status 0) the trouble that kept it from coming.

    `trouble` goes on from a host's name in a sentence; `late` says that the deadline passed, `hopeless` that another
    try would come to the same. Header names are in small letters.
    """

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    trouble: str = ""
    late: bool = False
    hopeless: bool = False

    @property
    def body(self) -> Any:
        """The content read as JSON, None when it is none or nested beyond all measure."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return None


def awaited(request: Coroutine[Any, Any, Outcome], seconds: float) -> Outcome:
    """The outcome of a request that ends by itself after `seconds`, or that it is late."""
    asking = asyncio.run_coroutine_threadsafe(request, _loop())
    try:
        return asking.result(seconds + GRACE_SECONDS)
    except TimeoutError:
        asking.cancel()
        return Outcome(late=True)


def troubled(error: BaseException | None) -> Outcome:
    """What went wrong, by the kinds of the errors: their words are for developers, and may hold what was sent."""
    chain = []
    while error is not None:
        chain.append(error)
        error = error.__cause__ or error.__context__
    kinds = {type(each).__name__ for each in chain}
    if any(isinstance(each, socket.gaierror) for each in chain):
        return Outcome(trouble="cannot be found: no such host is known")
    if any(isinstance(each, ssl.SSLError) for each in chain):
        return Outcome(trouble="offers no secure connection that can be trusted", hopeless=True)
    if kinds & {"ConnectError", "ConnectTimeout"}:
        return Outcome(trouble="cannot be reached; see that it runs there and that the address is right")
    if "ReadError" in kinds or any("complete message body" in str(each) for each in chain):
        return Outcome(trouble="broke off in the middle of its reply")
    if "RemoteProtocolError" in kinds:
        return Outcome(trouble="hung up without a reply that can be read")
    return Outcome(trouble=f"could not be asked ({', '.join(sorted(kinds))})", hopeless="LocalProtocolError" in kinds)


def quoted(text: str, key: str | None) -> str:
    """The beginning of what a server says, on one line, without the key and without control characters."""
    line = "".join(each for each in " ".join(text.split()) if each.isprintable())
    return (line.replace(key, "[key]") if key else line)[:QUOTED_CHARACTERS]


def _loop() -> asyncio.AbstractEventLoop:
    """The process's event loop for these requests; one for all threads, as clients keep connections that are tied to
    the loop they were made in."""
    with _starting:
        return _started()


@cache
def _started() -> asyncio.AbstractEventLoop:
    """The loop, running in a thread that ends with the process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="requests", daemon=True).start()
    return loop


# When a request is worth another try, and how long to wait before it.
#
# Only what may pass by itself is tried again: too many requests (429), a server's own failure (5xx), a broken or
# refused connection. Waits double, with jitter so that many runs do not come back at once, and are never shorter than
# the server's Retry-After; a wait that would outlast the call's deadline is not begun.

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


# The host of a URL that an operator has set, as messages name it and as the page says who gets what people write.


def host_of(url: str) -> str:
    """A host name, with the port where it is in the address."""
    return urlsplit(url).netloc.rpartition("@")[2]


def destination_of(url: str) -> str | None:
    """The host name that gets what is sent to `url`; None when it is this machine."""
    name = urlsplit(url).hostname or ""
    return None if _is_loopback(name) else name


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
