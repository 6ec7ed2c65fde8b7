"""A minimal asyncio browser for load tests: hundreds of them fit into one thread."""

from __future__ import annotations

import asyncio
import gzip
import re
import time
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode

TIMEOUT = 60.0
_NUMBER = re.compile(rb"id: (\d+)\n")
_END = b"event: end\n"
_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


class Reply(NamedTuple):
    """A response."""

    status: int
    """0 for a connection that was refused or closed."""
    headers: dict[str, str]
    """Header names are in lower case."""
    text: str
    milliseconds: float
    """From the request to the last byte."""


@dataclass
class StreamRecord:
    """The messages that one event stream delivered."""

    run_id: str
    after: int
    """Number of the last event that the reader already had."""
    requested: float
    """Unix time of the request."""
    messages: list[tuple[int, float]] = field(default_factory=list)
    """(event number, Unix time of the last byte) of each message with a number."""
    status: int = 0
    ended: bool = False
    """Whether the stream ended with its run."""


@dataclass
class Browser:
    """A visitor of `host:port` with its cookie, connecting from the loopback address `address`."""

    host: str
    port: int
    address: str = "127.0.0.1"
    cookie: str = ""
    token: str = ""

    async def get(self, path: str) -> Reply:
        """Request a page."""
        return await self._request("GET", path)

    async def post(self, path: str, form: dict[str, str]) -> Reply:
        """Post a form."""
        body = urlencode({"csrf_token": self.token, **form}).encode()
        return await self._request("POST", path, body, "application/x-www-form-urlencoded")

    async def open_home(self) -> Reply:
        """Open the home page, and store its token for forms."""
        home = await self.get("/")
        if found := _TOKEN.search(home.text):
            self.token = found[1]
        return home

    async def start(self, claim: str) -> Reply:
        """Post a claim; status 303 redirects to its run."""
        return await self.post("/runs", {"claim": claim})

    async def follow(self, path: str, record: StreamRecord) -> None:
        """Read the stream at `path` until it ends or is closed, and record its messages."""
        try:
            reader, writer = await self._connect()
        except OSError:
            return
        try:
            writer.write(self._head("GET", path, b"", "text/event-stream"))
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), TIMEOUT)
            record.status = int(head.split(b" ", 2)[1])
            await _read_messages(reader, record)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _request(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Reply:
        started = time.perf_counter()
        try:
            async with asyncio.timeout(TIMEOUT):
                reader, writer = await self._connect()
                try:
                    writer.write(self._head(method, path, body, "text/html", kind) + body)
                    raw = await reader.read(-1)
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return Reply(0, {}, "", 1000 * (time.perf_counter() - started))
        return self._reply(raw, 1000 * (time.perf_counter() - started))

    def _reply(self, raw: bytes, milliseconds: float) -> Reply:
        head, _, body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if not first:
            return Reply(0, {}, "", milliseconds)
        if cookie := headers.get("set-cookie"):
            self.cookie = cookie.partition(";")[0]
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return Reply(int(first.split(" ")[1]), headers, body.decode("utf-8", "replace"), milliseconds)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.host, self.port, local_addr=(self.address, 0), limit=2**20)

    def _head(self, method: str, path: str, body: bytes, accept: str, kind: str = "") -> bytes:
        # In HTTP/1.0 the response ends with its connection and is not chunked.
        lines = [f"{method} {path} HTTP/1.0", f"Host: {self.host}:{self.port}", f"Accept: {accept}"]
        lines += ["Accept-Encoding: gzip"] + ([f"Cookie: {self.cookie}"] if self.cookie else [])
        lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"] if body else []
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _read_messages(reader: asyncio.StreamReader, record: StreamRecord) -> None:
    rest = b""
    while data := await asyncio.wait_for(reader.read(2**18), TIMEOUT):
        now = time.time()
        *messages, rest = (rest + data).split(b"\n\n")
        for each in messages:
            if found := _NUMBER.match(each):
                record.messages.append((int(found[1]), now))
            if each.startswith(_END):
                record.ended = True
                return
