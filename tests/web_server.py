"""A small web site on this machine, for tests of code that fetches pages.

    with WebServer({"/": Sent(b"<p>Hello</p>")}) as site:
        client(site).get(site.url("/"), Budget(5))
        assert site.asked == ["/"]

Its pages are reached as http://good.test:PORT, which `NAMES` leads to this machine.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from typing import Any

from app.backends.fetch.addresses import is_public
from app.backends.fetch.safe_http import GuardedHttp
from tests.loopback import HERE, LoopbackServer, QuietHandler

ELSEWHERE = "127.0.0.2"
"""Where a server can listen, too, and which the tests' clients may not reach."""

NAMES = {"good.test": (HERE,), "other.test": (HERE,), "inside.test": (ELSEWHERE,)}


@dataclass(frozen=True)
class Sent:
    """A reply. `raw`: sent in place of it all, in pieces, with `pause` seconds before each."""

    body: bytes = b""
    kind: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    raw: Iterable[bytes] | None = None
    pause: float = 0.0


def moved(to: str, status: int = 302) -> Sent:
    """Return a redirect to `to`."""
    return Sent(status=status, headers={"Location": to})


class WebServer(LoopbackServer):
    """Serves `pages` by path (others are 404) inside the `with` block; `asked` and `headers` hold what was asked."""

    def __init__(self, pages: Mapping[str, Sent], at: str = HERE, tls: ssl.SSLContext | None = None) -> None:
        self.pages = dict(pages)
        self.asked: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.most_at_once = self._at_once = 0
        self._counting = threading.Lock()
        super().__init__(_handler(self), at)
        self._scheme = "https" if tls else "http"
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def url(self, path: str = "/", host: str = "good.test") -> str:
        """Return the URL of a page."""
        return f"{self._scheme}://{host}:{self.port}{path}"

    def reply_to(self, path: str, headers: Mapping[str, str]) -> Sent:
        """The page, after its delay; counts how many are being asked for at once."""
        with self._counting:
            self.asked.append(path)
            self.headers.append(headers)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        sent = self.pages.get(path, Sent(b"nothing here", status=404))
        time.sleep(sent.delay)
        with self._counting:
            self._at_once -= 1
        return sent


def client(*sites: WebServer, **more: Any) -> GuardedHttp:
    """Return a client like the real one that may also reach these sites, on their ports, and no other local address."""
    given: dict[str, Any] = {
        "resolve": lambda host, port: NAMES.get(host, ()),
        "allowed": lambda address: is_public(address) or address == ip_address(HERE),
        "ports": [site.port for site in sites],
        "tls": _system_trust(),
    }
    return GuardedHttp("Hopcheck/test", **(given | more))


@cache
def _system_trust() -> ssl.SSLContext:
    """Made once: loading the system's certificate authorities takes a fifth of a second."""
    return ssl.create_default_context()


def _handler(server: WebServer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            sent = server.reply_to(self.path, self.lower_headers())
            with suppress(OSError):  # the client closed the connection
                self._send(sent)

        def _send(self, sent: Sent) -> None:
            if sent.raw is not None:
                for piece in sent.raw:
                    time.sleep(sent.pause)
                    self.wfile.write(piece)
                return
            self.send(sent.status, sent.body, {"Content-Type": sent.kind, **sent.headers})

    return Handler
