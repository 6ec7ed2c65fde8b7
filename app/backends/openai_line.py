"""The line to a server that speaks OpenAI's chat protocol: one request, one outcome, never later than its deadline.

Replies are not streamed: nothing shows half a reply, HTTP itself notices one that is cut off, and every server counts
tokens in a whole reply.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from typing import Any

from app.backends.http_outcome import Outcome, awaited, troubled

NO_KEY = "none"
"""What is sent where no key is set: the client insists on one, and local servers read none."""


class Line:
    """Asks one server with one key. Safe to share between threads; the client is made at the first request."""

    def __init__(self, base_url: str, api_key: str | None) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._client: Any = None
        self._making = threading.Lock()

    def post(self, parameters: Mapping[str, Any], seconds: float) -> Outcome:
        """Ask for a chat completion and wait for it at most `seconds`. Never raises."""
        return awaited(_post(self.open(), parameters, seconds), seconds)

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
        return troubled(error.__cause__)
    except Exception as error:  # its text may hold the key, as that of a header which cannot be written does
        return Outcome(trouble=f"could not be asked ({type(error).__name__})", hopeless=True)
    return Outcome(reply.status_code, {name.lower(): text for name, text in reply.headers.items()}, reply.content)
