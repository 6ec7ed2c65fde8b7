"""Disconnect clients that stop sending a request or reading a response, which would otherwise hold a server thread.

Gunicorn's threads have no such timeout. Accepted sockets inherit the timeouts of the listening socket, and an expired
one raises BlockingIOError.
"""

from __future__ import annotations

import logging
import socket
import struct
from collections.abc import Iterable

TIMEOUT_SECONDS = 10
"""Without a single byte. Clients that send one now and then must be stopped by a reverse proxy (docs/operations.md)."""


def set_socket_timeouts(listening: Iterable[socket.socket], seconds: int = TIMEOUT_SECONDS) -> None:
    """Disconnect clients of these sockets that neither send nor read for `seconds` in the middle of a request."""
    timeout = struct.pack("ll", seconds, 0)
    for each in listening:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)


class ShortenTimeouts(logging.Filter):
    """Replace the traceback of a disconnected client by one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], BlockingIOError):
            record.msg, record.args, record.exc_info = "a client was too slow and was cut off", (), None
            record.levelno, record.levelname = logging.INFO, "INFO"
        return True
