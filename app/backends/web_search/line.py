"""The line to one search provider: one request, one outcome, never later than its deadline, and never a huge reply."""

from __future__ import annotations

import asyncio
import logging
import threading
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

from app.backends.http_outcome import Outcome, awaited, troubled
from app.backends.web_search.provider import Asking

LARGEST = 2_000_000
"""Bytes of a reply, unpacked. A hundred results with long snippets are a tenth of that."""


class Line:
    """Asks one address. Safe to share between threads; the client is made at the first request."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: Any = None
        self._making = threading.Lock()

    def ask(self, asking: Asking, seconds: float) -> Outcome:
        """Send it and wait at most `seconds` for the whole reply. Never raises."""
        return awaited(_ask(self.open(), self._url, asking, seconds), seconds)

    def open(self) -> Any:
        """The client, made once: importing it may take a moment, which counts for no deadline."""
        with self._making:
            if self._client is None:
                self._client = _client()
            return self._client


def _client() -> Any:
    import httpx2

    # At INFO these write every address, and with it the query.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return httpx2.AsyncClient(
        timeout=None,
        # Whoever is redirected sends the query to a host that the page did not name.
        follow_redirects=False,
        headers={"User-Agent": "Hopcheck", "Accept": "application/json"},
        # Searches of different people have nothing in common.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )


async def _ask(client: Any, url: str, asking: Asking, seconds: float) -> Outcome:
    import httpx2

    try:
        async with (
            asyncio.timeout(seconds),
            client.stream(asking.method, url, headers=asking.headers, **asking.sent) as reply,
        ):
            content = bytearray()
            async for piece in reply.aiter_bytes():
                content += piece
                if len(content) > LARGEST:
                    return Outcome(trouble=f"sent more than {LARGEST:,} bytes", hopeless=True)
            headers = {name.lower(): text for name, text in reply.headers.items()}
            return Outcome(reply.status_code, headers, bytes(content))
    except TimeoutError:
        return Outcome(late=True)
    except httpx2.HTTPError as error:
        return troubled(error)
    except Exception as error:  # its text may hold the key, as that of a header which cannot be written does
        return Outcome(trouble=f"could not be asked ({type(error).__name__})", hopeless=True)
