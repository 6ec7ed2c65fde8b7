"""HTTP client for untrusted URLs: connects to public addresses only, with limits on time and decompressed size.

A name is resolved once and the connection goes to a checked address, which prevents DNS rebinding; TLS still verifies
the name. Each redirect target is checked in the same way.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from app.backends.fetch.addresses import AddressFilter, Resolver, checked_addresses, is_public, system_resolve
from app.backends.http import HttpResult, ReplyTooLarge, body_of, error_chain
from app.domain.errors import CallFailed
from app.domain.instrumentation import check_cancelled

MAX_CONCURRENT_FETCHES = 4
MAX_WAIT_SECONDS = 60.0
"""The longest wait for a slot: as long as four page fetches in a row can take (FETCH_SECONDS in pages.py)."""


class FetchLimiter:
    """Limits concurrent fetches in the process: a few in total, one per site."""

    def __init__(self, wait_seconds: float = MAX_WAIT_SECONDS) -> None:
        self._wait_seconds = wait_seconds
        self._busy: set[str] = set()
        self._changed = threading.Condition()

    @contextmanager
    def slot(self, site: str) -> Iterator[None]:
        """Hold a slot for the site inside the block. Raises CallFailed if none becomes free in time.

        Raises as `check_cancelled` does if the speculative call was cancelled meanwhile.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._free(site), self._wait_seconds):
                raise CallFailed(f"{site} was not asked: other pages were still being fetched.")
            self._busy.add(site)
        try:
            check_cancelled()
            yield
        finally:
            with self._changed:
                self._busy.discard(site)
                self._changed.notify_all()

    def _free(self, site: str) -> bool:
        return site not in self._busy and len(self._busy) < MAX_CONCURRENT_FETCHES


ALLOWED_PORTS = (80, 443)
MAX_RESPONSE_BYTES = 20 * 1024**2
"""Limit of one decompressed reply."""
MAX_HEAD_BYTES = 256 * 1024
"""Limit of what comes before a reply's content, such as "100 Continue" without an end."""
MAX_REDIRECTS = 3
CONNECT_SECONDS = 5.0
"""For each address; the next one is tried after it."""
MAX_URL_CHARACTERS = 4096
PAGE_TYPES = "text/html, application/xhtml+xml, application/pdf, text/plain;q=0.9"
Reader = Callable[[Any], Awaitable[HttpResult]]
INVALID_URL = "The address of a page cannot be read, so it was not asked for."

_HOST = re.compile(r"[a-z0-9_:]([a-z0-9_.:-]*[a-z0-9_:])?")


class Budget:
    """The network time left for one page, redirects included. Waiting for a slot does not count."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self._left = seconds  # `seconds` is the whole budget, for messages

    @contextmanager
    def running(self) -> Iterator[Callable[[], float]]:
        """Count time inside the block; yields a function that returns the seconds left."""
        end = time.monotonic() + self._left
        try:
            yield lambda: end - time.monotonic()
        finally:
            self._left = end - time.monotonic()


@dataclass(frozen=True, slots=True)
class Target:
    """A validated URL, parsed once so that checks and connection use the same host and port."""

    url: Any
    host: str
    port: int

    @classmethod
    def of(cls, url: str, ports: Collection[int]) -> Target:
        """Parse a URL. Raises CallFailed for anything but a plain http or https URL on one of `ports`."""
        import httpx2

        try:
            parsed = httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError):
            raise CallFailed(INVALID_URL) from None
        host = parsed.raw_host.decode("ascii").removesuffix(".")
        port = parsed.port if parsed.port is not None else {"http": 80, "https": 443}.get(parsed.scheme)
        if port is None or parsed.scheme not in ("http", "https"):
            raise CallFailed("Pages are fetched by http and https only.")
        if len(url) > MAX_URL_CHARACTERS or len(host) > 253 or not _HOST.fullmatch(host):
            raise CallFailed(INVALID_URL)
        if parsed.userinfo:
            raise CallFailed(f"{host} was not asked: the address has a user name or a password in it.")
        if port not in ports:
            raise CallFailed(f"{host} was not asked: pages are not fetched from port {port}.")
        return cls(parsed.copy_with(host=host), host, port)


class GuardedHttp:
    """Fetches with GET. Thread-safe; keeps no cookies or connections, and uses no proxy."""

    def __init__(
        self,
        agent: str,
        *,
        accept: str = PAGE_TYPES,
        resolve: Resolver = system_resolve,
        allowed: AddressFilter = is_public,
        ports: Collection[int] = ALLOWED_PORTS,
        tls: ssl.SSLContext | None = None,
        limiter: FetchLimiter | None = None,
    ) -> None:
        """`agent` is the User-Agent, `accept` the media types to ask for.

        The rest is for tests with local servers: `allowed` decides which addresses may be connected to, `ports` on
        which ports, `tls` replaces the system's certificate authorities.
        """
        self._agent, self._accept = agent, accept
        self._resolve, self._allowed, self._ports = resolve, allowed, ports
        self._tls, self._limiter = tls, limiter or FetchLimiter()

    def host_of(self, url: str) -> str:
        """Return the host that `get` would contact. Raises CallFailed for a URL that it refuses."""
        return Target.of(url, self._ports).host

    def get(
        self,
        url: str,
        budget: Budget,
        *,
        limit: int = MAX_RESPONSE_BYTES,
        kinds: Collection[str] | None = None,
        check_allowed: Callable[[str], None] = lambda url: None,
    ) -> HttpResult:
        """Fetch `url`, following at most MAX_REDIRECTS redirects. Raises CallFailed, with the host in its message.

        `check_allowed` is called before each request and raises to prevent it. `kinds` are the accepted media types
        ("" for a reply that names none), None for all. `limit` is in bytes after decompression.
        """
        import httpx2

        for _ in range(MAX_REDIRECTS + 1):
            target = Target.of(url, self._ports)
            check_allowed(str(target.url))
            with self._limiter.slot(target.host), budget.running() as left:
                reply = self._request(target, left, budget.seconds, partial(_reply, target, limit, kinds))
            location = reply.headers.get("location")
            if not (location and 300 <= reply.status < 400):
                return reply
            try:
                url = str(target.url.join(location))
            except (httpx2.InvalidURL, ValueError):
                raise CallFailed(f"{target.host} redirects to an address that cannot be read.") from None
        raise CallFailed(f"{target.host} redirects more than {MAX_REDIRECTS} times.")

    def _request(self, target: Target, left: Callable[[], float], seconds: float, reader: Reader) -> HttpResult:
        import httpx2

        checked = checked_addresses(target.host, target.port, left(), self._resolve, self._allowed)
        try:
            return asyncio.run(self._exchange(target, checked, left(), reader))
        except TimeoutError:
            raise CallFailed(f"{target.host} was not done after {seconds:g} seconds and was given up.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise CallFailed(f"{target.host} {_describe_error(error)}.") from error

    async def _exchange(self, target: Target, checked: tuple[str, ...], seconds: float, reader: Reader) -> HttpResult:
        """Return the reply of the first address that accepts a connection."""
        import httpx2

        async with asyncio.timeout(seconds):
            *others, last = checked
            for address in others:
                with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                    return await self._request_at(target, address, reader)
            return await self._request_at(target, last, reader)

    async def _request_at(self, target: Target, address: str, reader: Reader) -> HttpResult:
        """Connect to the address, but use the name in the Host header and for TLS (SNI and verification)."""
        import httpx2

        headers = {
            "Host": target.url.netloc.decode("ascii"),
            "User-Agent": self._agent,
            "Accept": self._accept,
            "Accept-Encoding": "gzip, deflate",
        }
        extensions = {
            "sni_hostname": target.host,
            "timeout": {"connect": CONNECT_SECONDS},
            "trace": _HeadLimit(target.host),
        }
        request = httpx2.Request("GET", target.url.copy_with(host=address), headers=headers, extensions=extensions)
        async with httpx2.AsyncHTTPTransport(verify=self._tls or _system_trust(), trust_env=False) as transport:
            response = await transport.handle_async_request(request)
            try:
                return await reader(response)
            finally:
                await response.aclose()


@cache
def _system_trust() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


class _HeadLimit:
    """A trace of a request, which counts the bytes that are received before the reply's content."""

    def __init__(self, host: str) -> None:
        self._host, self._left, self._is_in_head = host, MAX_HEAD_BYTES, True

    async def __call__(self, event: str, about: Mapping[str, Any]) -> None:
        if event == "http11.receive_response_headers.complete":
            self._is_in_head = False
        elif event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            stream = about["return_value"]
            stream.read = partial(self._read, stream.read)

    async def _read(self, read: Callable[..., Awaitable[bytes]], *args: Any, **options: Any) -> bytes:
        data = await read(*args, **options)
        self._left -= len(data) if self._is_in_head else 0
        if self._left < 0:
            raise CallFailed(f"{self._host} sent no reply that can be read, or broke off in the middle of it.")
        return data


async def _reply(target: Target, limit: int, kinds: Collection[str] | None, response: Any) -> HttpResult:
    """Read a reply's content if its media type and size are accepted."""
    host, sent = target.host, response.headers
    head = HttpResult(response.status_code, dict(sent), url=str(target.url))
    if head.status != 200:
        return head
    if kinds is not None and head.kind not in kinds:
        raise CallFailed(f"{host} sent {head.kind[:50] or 'something'}, which is not a kind of page that can be read.")
    if sent.get("content-encoding", "").strip().lower() not in ("", "identity", "gzip", "deflate"):
        raise CallFailed(f"{host} packs its pages in a way that it was not asked for.")
    length = sent.get("content-length", "")
    try:
        if length.isdecimal() and int(length[:20]) > limit:
            raise ReplyTooLarge
        return replace(head, content=await body_of(response, limit))
    except ReplyTooLarge:
        raise CallFailed(f"{host} has a page larger than {limit / 1024**2:.3g} MB, which is not read.") from None


def _describe_error(error: BaseException) -> str:
    """Describe an error by its types: the messages are technical."""
    chain = error_chain(error)
    if any(isinstance(each, ssl.SSLError) for each in chain):
        return "offers no secure connection that can be trusted"
    if {type(each).__name__ for each in chain} & {"ConnectError", "ConnectTimeout"}:
        return "cannot be reached"
    return "sent no reply that can be read, or broke off in the middle of it"
