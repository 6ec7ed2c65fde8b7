"""What all scripted servers on this machine share: a free port, threads, and an end that waits for no client."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

HERE = "127.0.0.1"


class LoopbackServer:
    """Serves with `handler` inside the `with` block. `port` is known, and `gone` not set, as soon as it exists."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], at: str = HERE) -> None:
        self._server = ThreadingHTTPServer((at, 0), handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port: int = self._server.server_address[1]
        self.gone = threading.Event()
        """Set at the end of the block, so that no reply waits any longer."""

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gone.set()
        self._server.shutdown()
        self._server.server_close()


class QuietHandler(BaseHTTPRequestHandler):
    """Keeps connections open and logs nothing: tests read what the server was asked."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass
