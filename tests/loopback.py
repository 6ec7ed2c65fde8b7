"""What all scripted servers on this machine share: a free port, threads, and an end that waits for no client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

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


class ScriptedServer(LoopbackServer):
    """Replies as the script says: a function of the request, or replies sent in turn (the last one repeatedly).

    `asked` holds every request in order.
    """

    def __init__(self, script: Callable[[Any], Any] | Sequence[Any], handler: type[BaseHTTPRequestHandler]) -> None:
        self.asked: list[Any] = []
        self._script = script if callable(script) else _in_turn(script)
        super().__init__(handler)

    def reply_to(self, asked: Any) -> Any:
        """Return the script's reply; waits as long as the reply is delayed, or until the server goes down."""
        self.asked.append(asked)
        reply = self._script(asked)
        self.gone.wait(reply.delay)
        return reply


def _in_turn(replies: Sequence[Any]) -> Callable[[Any], Any]:
    left = list(replies)
    turn = threading.Lock()

    def script(_: Any) -> Any:
        with turn:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


class QuietHandler(BaseHTTPRequestHandler):
    """Keeps connections open and logs nothing: tests read what the server was asked."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def lower_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def send(
        self, status: int, body: bytes, headers: Mapping[str, object], drip: float = 0.0, cut: bool = False
    ) -> None:
        """Send it all, without the headers that are None. `drip`: seconds between any two bytes; `cut`: half of it."""
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        for at in range(len(body)) if drip else ():
            self.wfile.write(body[at : at + 1])
            time.sleep(drip)
        if not drip:
            self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut
