"""Our own client for pages that strangers name: it connects to public addresses only, and nothing holds or fills it.

A name is resolved once, every address is checked, and the connection goes to a checked one, so a name that changes its
mind in between (DNS rebinding) changes nothing; TLS still asks for the name. Redirects come back here, so each target
is checked alike. One budget of seconds covers all of a page, and what is unpacked is counted while it is unpacked.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from app.backends.fetch.addresses import Allowed, Resolve, checked_addresses, is_public, system_resolve
from app.domain.calls import check_cancelled
from app.domain.errors import CallFailed

# The content of one HTTP reply, unpacked while it comes in and counted while it is unpacked.
#
# A kilobyte of gzip can hold a megabyte, so a limit that looks at the whole afterwards comes too late.

GZIP_OR_ZLIB, RAW_DEFLATE = 47, -15
"""What zlib calls the ways in which deflated bytes are wrapped."""


class ResponseBody:
    """Takes in chunks. Raises CallFailed as soon as they come to more than `limit` bytes, packed or unpacked."""

    def __init__(self, host: str, headers: Mapping[str, str], limit: int) -> None:
        """`headers` are the reply's; only Content-Encoding and Content-Length are read."""
        self._host, self._limit = host, limit
        self._encoding = headers.get("content-encoding", "").strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise CallFailed(f"{host} packs its pages in a way that it was not asked for.")
        if (length := headers.get("content-length", "")).isdecimal() and int(length[:20]) > limit:
            raise self._too_large()
        self._packed = 0
        self._content = bytearray()
        self._unpacker: Any = None

    def add(self, chunk: bytes) -> None:
        """Take in the next bytes as they were sent."""
        self._packed += len(chunk)
        self._content += self._unpacked(chunk) if self._encoding not in ("", "identity") else chunk
        if max(self._packed, len(self._content)) > self._limit:
            raise self._too_large()

    def whole(self) -> bytes:
        """All of it, once the last chunk is in. Raises CallFailed when its end is missing."""
        if self._unpacker is not None and not self._unpacker.eof:
            raise CallFailed(f"{self._host} broke off in the middle of its page.")
        return bytes(self._content)

    def _unpacked(self, chunk: bytes) -> bytes:
        """At most one byte more than the limit allows: enough to know that it is passed."""
        if self._unpacker is None:
            # Many servers send "deflate" without the wrapping that the standard asks for, which begins with 0x78.
            wrapped = self._encoding != "deflate" or chunk[:1] == b"\x78"
            self._unpacker = zlib.decompressobj(GZIP_OR_ZLIB if wrapped else RAW_DEFLATE)
        try:
            return self._unpacker.decompress(chunk, self._limit - len(self._content) + 1)
        except zlib.error:
            raise CallFailed(f"{self._host} sent a page that cannot be unpacked.") from None

    def _too_large(self) -> CallFailed:
        return CallFailed(f"{self._host} has a page larger than {self._limit / 1024**2:.3g} MB, which is not read.")


# Who may fetch now: a few at once in all, and one at a time from each site.

MAX_CONCURRENT_FETCHES = 4
MAX_WAIT_SECONDS = 60.0
"""Four others of the longest take less than this."""


class FetchLimiter:
    """Shared by every thread of the process that fetches."""

    def __init__(self, at_once: int = MAX_CONCURRENT_FETCHES, wait_seconds: float = MAX_WAIT_SECONDS) -> None:
        self._at_once, self._wait_seconds = at_once, wait_seconds
        self._busy: set[str] = set()
        self._changed = threading.Condition()

    @contextmanager
    def slot(self, site: str) -> Iterator[None]:
        """Wait for the site and for a place, and hold both inside the block. Raises CallFailed after a minute.

        A page that nobody wants any more when its turn has come is left.
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
        return site not in self._busy and len(self._busy) < self._at_once


PORTS = (80, 443)
MAX_RESPONSE_BYTES = 20 * 1024**2
"""Bytes of one reply, unpacked."""
MAX_REDIRECTS = 3
CONNECT_SECONDS = 5.0
"""For one address of several; the next may be better."""
MAX_URL_CHARACTERS = 4096
UNREADABLE = "The address of a page cannot be read, so it was not asked for."

_HOST = re.compile(r"[a-z0-9_:]([a-z0-9_.:-]*[a-z0-9_:])?")


class Budget:
    """The seconds of network time that are left for one page. Waiting for a turn takes none of it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self._left = seconds

    @contextmanager
    def running(self) -> Iterator[Callable[[], float]]:
        """The clock runs inside the block, which is given a function that says what is left."""
        end = time.monotonic() + self._left
        try:
            yield lambda: end - time.monotonic()
        finally:
            self._left = end - time.monotonic()


@dataclass(frozen=True, slots=True)
class Fetched:
    """A reply: where it came from in the end, its status, its Content-Type as sent, and (status 200) its content.

    `location` is where a redirect leads; what `GuardedHttp.get` returns has none that it would follow.
    """

    url: str
    host: str
    status: int
    content_type: str = ""
    content: bytes = b""
    location: str = ""

    @property
    def kind(self) -> str:
        """The media type without its parameters, in small letters; "" when none was sent."""
        return self.content_type.partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Target:
    """One URL that may be asked for, taken apart once: who is asked, and what is connected to, cannot differ."""

    url: Any
    host: str
    port: int

    @classmethod
    def of(cls, url: str, ports: Collection[int]) -> Target:
        """Raises CallFailed for anything but a plain http or https URL on one of `ports`."""
        import httpx2

        try:
            parsed = httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError):
            raise CallFailed(UNREADABLE) from None
        host = parsed.raw_host.decode("ascii").removesuffix(".")
        port = parsed.port if parsed.port is not None else {"http": 80, "https": 443}.get(parsed.scheme)
        if port is None:
            raise CallFailed("Pages are fetched by http and https only.")
        if len(url) > MAX_URL_CHARACTERS or len(host) > 253 or not _HOST.fullmatch(host):
            raise CallFailed(UNREADABLE)
        if parsed.userinfo:
            raise CallFailed(f"{host} was not asked: the address has a user name or a password in it.")
        if port not in ports:
            raise CallFailed(f"{host} was not asked: pages are not fetched from port {port}.")
        return cls(parsed.copy_with(host=host), host, port)


class GuardedHttp:
    """Fetches by GET. Safe to share between threads; keeps no cookie and no connection, and uses no proxy."""

    def __init__(
        self,
        agent: str,
        *,
        resolve: Resolve = system_resolve,
        allowed: Allowed = is_public,
        ports: Collection[int] = PORTS,
        tls: ssl.SSLContext | None = None,
        limiter: FetchLimiter | None = None,
    ) -> None:
        """`agent` is how it names itself. All else is for tests, whose servers are on this machine: `allowed` says
        which addresses may be connected to, `ports` on which ports, `tls` whom to trust (the system's authorities)."""
        self._agent = agent
        self._resolve, self._allowed, self._ports = resolve, allowed, ports
        self._tls, self._making_tls = tls, threading.Lock()
        self._limiter = limiter or FetchLimiter()

    def host_of(self, url: str) -> str:
        """Whom `get` would ask. Raises CallFailed when it would not ask at all."""
        return Target.of(url, self._ports).host

    def get(
        self,
        url: str,
        budget: Budget,
        *,
        limit: int = MAX_RESPONSE_BYTES,
        kinds: Collection[str] | None = None,
        check_allowed: Callable[[str], None] = lambda url: None,
    ) -> Fetched:
        """What is at `url`, after at most MOST_REDIRECTS redirects. Raises CallFailed, with the host in its message.

        `check_allowed` is asked before each request and raises where it should not be made; `kinds` are the media types
        whose content is wanted ("" where the server names none), None for all; `limit` is in bytes, unpacked.
        """
        for _ in range(MAX_REDIRECTS + 1):
            target = Target.of(url, self._ports)
            check_allowed(str(target.url))
            with self._limiter.slot(target.host), budget.running() as left:
                reply = self._ask(target, left, budget.seconds, _ResponseReader(target.host, limit, kinds))
            if not reply.location:
                return reply
            url = _joined(target, reply.location)
        raise CallFailed(f"{target.host} redirects more than {MAX_REDIRECTS} times.")

    def _ask(self, target: Target, left: Callable[[], float], seconds: float, reader: _ResponseReader) -> Fetched:
        import httpx2

        checked = checked_addresses(target.host, target.port, left(), self._resolve, self._allowed)
        try:
            return asyncio.run(self._exchange(target, checked, left(), reader))
        except TimeoutError:
            raise CallFailed(f"{target.host} was not done after {seconds:g} seconds and was given up.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise CallFailed(f"{target.host} {_describe_error(error)}.") from error

    async def _exchange(
        self, target: Target, checked: tuple[str, ...], seconds: float, reader: _ResponseReader
    ) -> Fetched:
        """The reply of the first address that can be connected to."""
        import httpx2

        async with asyncio.timeout(seconds):
            *others, last = checked
            for address in others:
                try:
                    return await self._at(target, address, reader)
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    continue
            return await self._at(target, last, reader)

    async def _at(self, target: Target, address: str, reader: _ResponseReader) -> Fetched:
        """Connect to the address, but ask for the name: in the Host header, and where TLS says and checks it."""
        import httpx2

        headers = {
            "Host": target.url.netloc.decode("ascii"),
            "User-Agent": self._agent,
            "Accept": "text/html, application/xhtml+xml, application/pdf, text/plain;q=0.9",
            "Accept-Encoding": "gzip, deflate",
        }
        named = {"sni_hostname": target.host, "timeout": {"connect": CONNECT_SECONDS}}
        request = httpx2.Request("GET", target.url.copy_with(host=address), headers=headers, extensions=named)
        async with httpx2.AsyncHTTPTransport(verify=self._trust(), trust_env=False) as transport:
            response = await transport.handle_async_request(request)
            try:
                return await reader.reply(str(target.url), response)
            finally:
                await response.aclose()

    def _trust(self) -> ssl.SSLContext:
        import httpx2

        with self._making_tls:
            if self._tls is None:
                self._tls = httpx2.create_ssl_context()
            return self._tls


@dataclass(frozen=True, slots=True)
class _ResponseReader:
    """What of a reply is taken in."""

    host: str
    limit: int
    kinds: Collection[str] | None

    async def reply(self, url: str, response: Any) -> Fetched:
        sent, status = response.headers, response.status_code
        head = Fetched(url, self.host, status, sent.get("content-type", ""))
        if status != 200:
            return replace(head, location=sent.get("location", "") if 300 <= status < 400 else "")
        if self.kinds is not None and head.kind not in self.kinds:
            raise CallFailed(
                f"{self.host} sent {head.kind[:50] or 'something'}, which is not a kind of page that can be read."
            )
        body = ResponseBody(self.host, sent, self.limit)
        async for chunk in response.aiter_raw():
            body.add(chunk)
        return replace(head, content=body.whole())


def _joined(target: Target, location: str) -> str:
    import httpx2

    try:
        return str(target.url.join(location))
    except (httpx2.InvalidURL, ValueError):
        raise CallFailed(f"{target.host} redirects to an address that cannot be read.") from None


def _describe_error(error: BaseException) -> str:
    """What went wrong, by the kinds of the errors: their words are for developers."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(each, ssl.SSLError) for each in chain):
        return "offers no secure connection that can be trusted"
    if {type(each).__name__ for each in chain} & {"ConnectError", "ConnectTimeout"}:
        return "cannot be reached"
    return "sent no reply that can be read, or broke off in the middle of it"
