"""A TCP proxy in front of several web servers: it forwards each connection to the first that accepts it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit


class Front(ThreadingTCPServer):
    """Forwards each connection to the first of `servers` that accepts it; both sides are closed together."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, servers: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.servers = [(parts.hostname, parts.port) for parts in map(urlsplit, servers)]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def connected(self) -> socket.socket | None:
        """Return a connection to the first server that accepts one."""
        for server in self.servers:
            with suppress(OSError):
                return socket.create_connection(server)
        return None


class _Visit(BaseRequestHandler):
    server: Front

    def handle(self) -> None:
        """Forward data in both directions until one side closes."""
        if there := self.server.connected():
            with there:
                threading.Thread(target=_pass_on, args=(self.request, there), daemon=True).start()
                _pass_on(there, self.request)


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    for each in (one, other):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def front(servers: Sequence[str]) -> Iterator[str]:
    """Run the proxy for the block and yield its address."""
    with Front(servers) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made.address
        made.shutdown()
