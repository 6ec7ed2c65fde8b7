"""HTTP calls with a deadline: results, retries with backoff, and host names for messages."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import random
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

from app.domain.instrumentation import report_phase
from app.domain.messages import Code

DEADLINE_GRACE_SECONDS = 2.0
"""Extra time for the event loop to notice that a deadline has passed."""

MAX_QUOTED_CHARACTERS = 200

MAX_ATTEMPTS = 4
INITIAL_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 8.0
MIN_REPORTED_WAIT_SECONDS = 1.0

_NO_CREDIT = re.compile(
    rb"(?i)insufficient[ _](?:quota|balance)|billing_hard_limit_reached|QUOTA_LIMITED|not enough credits"
    rb"|balance is too low"
)
"""Codes and messages for an account without credit (OpenAI, Anthropic, Z.ai, ...), where waiting does not help."""

log = logging.getLogger(__name__)
_start_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class HttpResult:
    """The result of one request: a reply, or the reason why there is none (status 0)."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header names are in lower case."""
    content: bytes = b""
    """The body as it was received."""
    error: str = ""
    """Continues a sentence that begins with the host's name."""
    timed_out: bool = False
    permanent: bool = False
    """A retry would fail in the same way."""
    url: str = ""
    """The address that replied, where redirects are followed."""

    @property
    def kind(self) -> str:
        """Return the media type without parameters, in lower case; "" when none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def parsed(self) -> Any:
        """Return the content parsed as JSON; None when it is not JSON or nested too deeply."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return None

    @property
    def has_no_credit(self) -> bool:
        """Return whether an error reply says that the account has no credit left. Not meaningful for status 200."""
        return self.status == 402 or bool(_NO_CREDIT.search(self.content))


def send(method: str, url: str, seconds: float, max_bytes: int, **sent: Any) -> HttpResult:
    """Send a request and wait at most `seconds` for its whole reply, which may have `max_bytes`. Never raises.

    `sent` are the arguments of httpx2's `request` for headers, query and body.
    """
    return run_with_deadline(_send(open_client()[0], method, url, max_bytes, sent), seconds)


async def _send(client: Any, method: str, url: str, max_bytes: int, sent: Mapping[str, Any]) -> HttpResult:
    async with client.stream(method, url, **sent) as reply:
        return HttpResult(reply.status_code, dict(reply.headers), await body_of(reply, max_bytes))


def run_with_deadline(request: Coroutine[Any, Any, HttpResult], seconds: float) -> HttpResult:
    """Return what the request returns within `seconds`, else the reason why there is no reply. Never raises."""
    future = asyncio.run_coroutine_threadsafe(_result_of(request, seconds), open_client()[1])
    try:
        return future.result(seconds + DEADLINE_GRACE_SECONDS)
    except TimeoutError:
        future.cancel()
        return HttpResult(timed_out=True)


async def _result_of(request: Coroutine[Any, Any, HttpResult], seconds: float) -> HttpResult:
    import httpx2

    try:
        async with asyncio.timeout(seconds):
            return await request
    except TimeoutError:
        return HttpResult(timed_out=True)
    except ReplyTooLarge as error:
        return HttpResult(error=f"sent more than {error.args[0]:,} bytes in one reply", permanent=True)
    except httpx2.HTTPError as error:
        return result_from_error(error)
    except Exception as error:  # its message may contain the key (an invalid header value does)
        return HttpResult(error=f"could not be asked ({type(error).__name__})", permanent=True)


def open_client() -> tuple[Any, asyncio.AbstractEventLoop]:
    """Return the process's client and the loop of its connections, shared by all threads.

    The first call may take a moment, so make it before a deadline starts.
    """
    with _start_lock:  # two first calls at once would otherwise start two
        return _start_client()


@cache
def _start_client() -> tuple[Any, asyncio.AbstractEventLoop]:
    import httpx2

    # At INFO httpx2 logs every URL, and with it the query; at DEBUG httpcore2 logs its steps.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    client = httpx2.AsyncClient(
        timeout=None,
        # A redirect would send the claim to a host that users were not shown.
        follow_redirects=False,
        headers={"User-Agent": "Hopcheck", "Accept": "application/json"},
        # Cookies would link the requests of different users.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="requests", daemon=True).start()
    return client, loop


class ReplyTooLarge(Exception):
    """A reply is longer than its request allows."""


async def body_of(response: Any, limit: int) -> bytes:
    """Return the body of a response of httpx2, which decompresses at most 1 MiB at a time.

    Raises ReplyTooLarge beyond `limit` bytes.
    """
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > limit:
            raise ReplyTooLarge(limit)
    return bytes(content)


def error_chain(error: BaseException | None) -> list[BaseException]:
    return [error, *error_chain(error.__cause__ or error.__context__)] if error else []


def result_from_error(error: BaseException | None) -> HttpResult:
    """Describe a client library's error by its types, since its message may contain what was sent.

    The types are compared by name, so that no client library is imported before its first call.
    """
    chain = error_chain(error)
    kinds = {type(each).__name__ for each in chain}
    if any(isinstance(each, socket.gaierror) for each in chain):
        return HttpResult(error="cannot be found: no such host is known")
    if any(isinstance(each, ssl.SSLError) for each in chain):
        return HttpResult(error="offers no secure connection that can be trusted", permanent=True)
    if kinds & {"ConnectError", "ConnectTimeout"}:
        return HttpResult(error="cannot be reached; check that it is running and that the address is right")
    if "ReadError" in kinds or any("complete message body" in str(each) for each in chain):
        return HttpResult(error="broke off in the middle of its reply")
    if "RemoteProtocolError" in kinds:
        return HttpResult(error="closed the connection without a valid reply")
    return HttpResult(error=f"could not be asked ({', '.join(sorted(kinds))})", permanent="LocalProtocolError" in kinds)


def quoted(text: str, key: str | None) -> str:
    """Return the beginning of a server's message on one line, without the key and without control characters."""
    line = "".join(each for each in " ".join(text.split()) if each.isprintable())
    return (line.replace(key, "[key]") if key else line)[:MAX_QUOTED_CHARACTERS]


@dataclass(frozen=True)
class RetryPolicy:
    """Retries with exponential backoff and jitter, after at least the server's Retry-After."""

    clock: Callable[[], float] = time.monotonic
    """Seconds, in which deadlines are given."""
    now: Callable[[], float] = time.time
    """Unix time, to which a Retry-After date is compared."""
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def run(self, request: Callable[[float], HttpResult], deadline: float, host: str) -> HttpResult:
        """Return the first result that is not retryable, or that of the last attempt.

        There are at most MAX_ATTEMPTS, all started before `deadline`, a time of `clock`. The result is a timeout if
        `deadline` has passed before an attempt. `request` receives the seconds that are left; `host` is for the log.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            left = deadline - self.clock()
            if left <= 0:
                return HttpResult(timed_out=True)
            result = request(left)
            # 50 to 100% of a doubling span, but at least what the server asks for
            span = min(MAX_WAIT_SECONDS, INITIAL_WAIT_SECONDS * 2 ** (attempt - 1))
            wait = max(span * (0.5 + 0.5 * self.jitter()), retry_after(result, self.now()) or 0.0)
            if attempt == MAX_ATTEMPTS or not is_retryable(result) or self.clock() + wait >= deadline:
                break
            log.warning("%s: %s; trying again in %.1f s", host, result.status or result.error, wait)
            if wait >= MIN_REPORTED_WAIT_SECONDS:
                report_phase(Code.WAITING_FOR_HOST(seconds=wait, host=host))
            self.sleep(wait)
        return result


def is_retryable(result: HttpResult) -> bool:
    """Return whether the same request may succeed later. A timeout used up the time of the call."""
    if result.status == 429:
        return not result.has_no_credit
    return not result.permanent and (result.status >= 500 or bool(result.error))


def retry_after(result: HttpResult, now: float) -> float | None:
    """Parse the Retry-After header, seconds or an HTTP date, to seconds; None when it is missing or invalid."""
    value = result.headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
            seconds = date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def host_of(url: str) -> str:
    """Return the host of a configured URL for messages, with the port where the URL has one."""
    return urlsplit(url).netloc.rpartition("@")[2]


def destination_of(url: str) -> str | None:
    """Return the host that receives what is sent to `url`; None for this machine."""
    name = urlsplit(url).hostname or ""
    try:
        is_here = ipaddress.ip_address(name).is_loopback
    except ValueError:
        is_here = name == "localhost" or name.endswith(".localhost")
    return None if is_here else name
