"""Browsers by the hundred in one thread: pages, forms and streams over asyncio, and nothing of what they look like."""

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
    """What came back: its status, headers in lower case, its text, and the milliseconds from asking to the last byte.

    Status 0 is a connection that was refused or cut off.
    """

    status: int
    headers: dict[str, str]
    text: str
    milliseconds: float


@dataclass
class Arrivals:
    """What one stream brought: (number of the event, when it had wholly come) of each message that tells one."""

    run_id: str
    after: int
    asked: float
    messages: list[tuple[int, float]] = field(default_factory=list)
    status: int = 0
    ended: bool = False


@dataclass
class Browser:
    """One visitor of `host:port` with its cookie, who comes from the loopback address `address`."""

    host: str
    port: int
    address: str = "127.0.0.1"
    cookie: str = ""
    token: str = ""

    async def get(self, path: str) -> Reply:
        """A page."""
        return await self._asked("GET", path)

    async def post(self, path: str, form: dict[str, str]) -> Reply:
        """Send a form."""
        body = urlencode({"csrf_token": self.token, **form}).encode()
        return await self._asked("POST", path, body, "application/x-www-form-urlencoded")

    async def come(self) -> Reply:
        """Open the home page, and keep its token for the forms that are sent."""
        home = await self.get("/")
        if found := _TOKEN.search(home.text):
            self.token = found[1]
        return home

    async def start(self, claim: str) -> Reply:
        """Send a claim; 303 leads to its run."""
        return await self.post("/runs", {"claim": claim})

    async def follow(self, path: str, arrivals: Arrivals) -> None:
        """Read the stream at `path` to its end, or until it is cut off, and note what arrives."""
        try:
            reader, writer = await self._connected()
        except OSError:
            return
        try:
            writer.write(self._head("GET", path, b"", "text/event-stream"))
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), TIMEOUT)
            arrivals.status = int(head.split(b" ", 2)[1])
            await _read_messages(reader, arrivals)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _asked(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Reply:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(TIMEOUT):
                reader, writer = await self._connected()
                try:
                    writer.write(self._head(method, path, body, "text/html", kind) + body)
                    raw = await reader.read(-1)
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return Reply(0, {}, "", 1000 * (time.perf_counter() - began))
        return self._reply(raw, 1000 * (time.perf_counter() - began))

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

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.host, self.port, local_addr=(self.address, 0), limit=2**20)

    def _head(self, method: str, path: str, body: bytes, accept: str, kind: str = "") -> bytes:
        """HTTP/1.0: the answer ends with its connection and comes in no chunks."""
        lines = [f"{method} {path} HTTP/1.0", f"Host: {self.host}:{self.port}", f"Accept: {accept}"]
        lines += ["Accept-Encoding: gzip"] + ([f"Cookie: {self.cookie}"] if self.cookie else [])
        lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"] if body else []
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _read_messages(reader: asyncio.StreamReader, arrivals: Arrivals) -> None:
    """Note each message once its last byte has come."""
    rest = b""
    while data := await asyncio.wait_for(reader.read(2**18), TIMEOUT):
        now = time.time()
        *messages, rest = (rest + data).split(b"\n\n")
        for each in messages:
            if found := _NUMBER.match(each):
                arrivals.messages.append((int(found[1]), now))
            if each.startswith(_END):
                arrivals.ended = True
                return
