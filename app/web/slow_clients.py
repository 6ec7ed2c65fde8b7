"""Clients that begin a request and do not go on, or do not read their answer, must not hold a server thread for ever.

Gunicorn's threads wait for the rest without end. The system does not: a socket that is accepted inherits the patience
of the one that listens, and what is cut off by it arrives here as BlockingIOError.
"""

from __future__ import annotations

import logging
import socket
import struct
from collections.abc import Iterable

SECONDS = 10
"""Without a single byte. Who sends one now and then is a reverse proxy's to stop (docs/operations.md)."""


def lose_patience(listening: Iterable[socket.socket], seconds: int = SECONDS) -> None:
    """Cut clients of these sockets off that are silent, or read nothing, for so long in the middle of a request."""
    patience = struct.pack("ll", seconds, 0)
    for each in listening:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)


class OneLineEach(logging.Filter):
    """Turns the trace of a client that was cut off into one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], BlockingIOError):
            record.msg, record.args, record.exc_info = "a client was too slow and was cut off", (), None
            record.levelno, record.levelname = logging.INFO, "INFO"
        return True
