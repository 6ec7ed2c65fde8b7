"""What comes of one request to a server: its reply or the trouble, in words for people, and never after its deadline.

HTTP clients offer time limits for each read only, and none for looking up a host's name, so a server that drips bytes
could hold a run for ever. An asynchronous client can be cut off at any point: requests go through one event loop in a
thread of its own, and callers wait for it no longer than they mean to.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

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
