"""HTTP calls with a deadline: results, retries with backoff, and host names for messages."""

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

from app.domain.instrumentation import report_phase

DEADLINE_GRACE_SECONDS = 2.0
"""Extra time for the event loop to notice that a deadline has passed."""

MAX_QUOTED_CHARACTERS = 200

_loop_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class HttpResult:
    """The result of one request: a reply, or the reason why there is none (status 0)."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header names are in lower case."""
    content: bytes = b""
    error: str = ""
    """Continues a sentence that begins with the host's name."""
    timed_out: bool = False
    permanent: bool = False
    """A retry would fail in the same way."""

    @property
    def body(self) -> Any:
        """Return the content parsed as JSON; None when it is not JSON or nested too deeply."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return None


def run_with_deadline(request: Coroutine[Any, Any, HttpResult], seconds: float) -> HttpResult:
    """Run a request, which should end by itself after `seconds`, on the shared event loop."""
    future = asyncio.run_coroutine_threadsafe(request, _loop())
    try:
        return future.result(seconds + DEADLINE_GRACE_SECONDS)
    except TimeoutError:
        future.cancel()
        return HttpResult(timed_out=True)


def causes(error: BaseException | None) -> list[BaseException]:
    """Return the error and what led to it."""
    return [error, *causes(error.__cause__ or error.__context__)] if error else []


def result_from_error(error: BaseException | None) -> HttpResult:
    """Describe a client library's error by its types, since its message may contain what was sent."""
    chain = causes(error)
    kinds = {type(each).__name__ for each in chain}
    if any(isinstance(each, socket.gaierror) for each in chain):
        return HttpResult(error="cannot be found: no such host is known")
    if any(isinstance(each, ssl.SSLError) for each in chain):
        return HttpResult(error="offers no secure connection that can be trusted", permanent=True)
    if kinds & {"ConnectError", "ConnectTimeout"}:
        return HttpResult(error="cannot be reached; see that it runs there and that the address is right")
    if "ReadError" in kinds or any("complete message body" in str(each) for each in chain):
        return HttpResult(error="broke off in the middle of its reply")
    if "RemoteProtocolError" in kinds:
        return HttpResult(error="hung up without a reply that can be read")
    return HttpResult(error=f"could not be asked ({', '.join(sorted(kinds))})", permanent="LocalProtocolError" in kinds)


def quoted(text: str, key: str | None) -> str:
    """Return the beginning of a server's message on one line, without the key and without control characters."""
    line = "".join(each for each in " ".join(text.split()) if each.isprintable())
    return (line.replace(key, "[key]") if key else line)[:MAX_QUOTED_CHARACTERS]


def _loop() -> asyncio.AbstractEventLoop:
    """Return the process's event loop, shared by all threads: a client's connections are tied to their loop."""
    with _loop_lock:
        return _start_loop()


@cache
def _start_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="requests", daemon=True).start()
    return loop


# Retries: exponential backoff with jitter, at least the server's Retry-After, never past the call's deadline.

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
INITIAL_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 8.0
MIN_REPORTED_WAIT_SECONDS = 1.0
QUOTA_EXHAUSTED = ("insufficient_quota", "billing_hard_limit_reached", "QUOTA_LIMITED")
"""Codes of a 429 (OpenAI, Brave) for an account without credit, where waiting does not help."""


@dataclass(frozen=True)
class RetryPolicy:
    """Retries of requests that failed for a transient reason."""

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    """Unix time, to which a Retry-After date is compared."""
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def run(self, request: Callable[[float], HttpResult], deadline: float, host: str) -> HttpResult:
        """Return the first result that is not retryable, or the last one.

        `request` receives the seconds left until `deadline`, a time of `clock`; `host` is for the log.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            left = deadline - self.clock()
            if left <= 0:
                return HttpResult(timed_out=True)
            outcome = request(left)
            wait = self._wait(outcome, attempt)
            if attempt == MAX_ATTEMPTS or not is_retryable(outcome) or self.clock() + wait >= deadline:
                break
            log.warning("%s: %s; trying again in %.1f s", host, outcome.status or outcome.error, wait)
            if wait >= MIN_REPORTED_WAIT_SECONDS:
                report_phase(f"waiting {wait:.0f} s for {host}")
            self.sleep(wait)
        return outcome

    def _wait(self, outcome: HttpResult, attempt: int) -> float:
        """Return the seconds to wait after the given attempt: 50 to 100% of a doubling span, or Retry-After."""
        span = min(MAX_WAIT_SECONDS, INITIAL_WAIT_SECONDS * 2 ** (attempt - 1))
        return max(span * (0.5 + 0.5 * self.jitter()), retry_after(outcome, self.now()) or 0.0)


def is_retryable(outcome: HttpResult) -> bool:
    """Return whether the same request may succeed later: 429 with credit left, 5xx, or a broken connection."""
    if outcome.status == 429:
        return not any(code.encode() in outcome.content for code in QUOTA_EXHAUSTED)
    return outcome.status >= 500 or bool(outcome.error and not outcome.permanent)


def retry_after(outcome: HttpResult, now: float) -> float | None:
    """Parse the Retry-After header, seconds or an HTTP date, to seconds; None when it is missing or invalid."""
    value = outcome.headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def host_of(url: str) -> str:
    """Return the host of a configured URL for messages, with the port where the URL has one."""
    return urlsplit(url).netloc.rpartition("@")[2]


def destination_of(url: str) -> str | None:
    """Return the host that receives what is sent to `url`; None for this machine."""
    name = urlsplit(url).hostname or ""
    return None if _is_loopback(name) else name


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
