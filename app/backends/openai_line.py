"""The line to a server that speaks OpenAI's chat protocol: one request, one outcome, never later than its deadline.

The package `openai` offers time limits for each read only, and none for looking up a host's name, so a server that
drips bytes could hold a run for ever. Its asynchronous client can be cut off at any point: requests go through one
event loop in a thread of its own, and callers wait for it no longer than they mean to. Replies are not streamed:
nothing shows half a reply, HTTP itself notices one that is cut off, and every server counts tokens in a whole reply.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

GRACE_SECONDS = 2.0
"""How long the event loop may take to notice that a deadline has passed."""

NO_KEY = "none"
"""What is sent where no key is set: the client insists on one, and local servers read none."""


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


class Line:
    """Asks one server with one key. Safe to share between threads; the client is made at the first request."""

    def __init__(self, base_url: str, api_key: str | None) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._client: Any = None
        self._making = threading.Lock()

    def post(self, parameters: Mapping[str, Any], seconds: float) -> Outcome:
        """Ask for a chat completion and wait for it at most `seconds`. Never raises."""
        asking = asyncio.run_coroutine_threadsafe(_post(self.open(), parameters, seconds), _loop())
        try:
            return asking.result(seconds + GRACE_SECONDS)
        except TimeoutError:
            asking.cancel()
            return Outcome(late=True)

    def open(self) -> Any:
        """The client, made once. The first in a process takes a second or two, which count for no deadline."""
        with self._making:
            if self._client is None:
                self._client = self._make()
            return self._client

    def _make(self) -> Any:
        import openai

        # At DEBUG these write whole prompts, at INFO a line for every call that says less than the run's own.
        for name in ("openai", "httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return openai.AsyncOpenAI(
            api_key=self._api_key or NO_KEY,
            base_url=self._base_url,
            timeout=None,
            max_retries=0,
            # Whoever is redirected sends the claim to a host that the page did not name.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )


async def _post(client: Any, parameters: Mapping[str, Any], seconds: float) -> Outcome:
    import openai

    try:
        async with asyncio.timeout(seconds):
            reply = (await client.chat.completions.with_raw_response.create(**parameters)).http_response
    except TimeoutError:
        return Outcome(late=True)
    except openai.APIStatusError as error:
        reply = error.response
    except openai.APIConnectionError as error:
        return _trouble(error.__cause__)
    except Exception as error:  # its text may hold the key, as that of a header which cannot be written does
        return Outcome(trouble=f"could not be asked ({type(error).__name__})", hopeless=True)
    return Outcome(reply.status_code, {name.lower(): text for name, text in reply.headers.items()}, reply.content)


def _trouble(error: BaseException | None) -> Outcome:
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


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The process's event loop for these requests, running in a thread that ends with the process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="language-model-requests", daemon=True).start()
    return loop
