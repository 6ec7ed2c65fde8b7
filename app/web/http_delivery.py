"""Caching of static files, compression of responses, and protection from clients that are slow to send or to read.

Such clients take none of the THREADS that compute responses. They are disconnected after TIMEOUT_SECONDS without a byte
(accepted sockets inherit the timeouts of the listening socket, and an expired one raises BlockingIOError), when they
send too slowly, and when too many wait: then the oldest of the client that has most.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from flask import Flask, request
from flask_compress import Compress
from gunicorn.http.unreader import SocketUnreader
from werkzeug.wsgi import ClosingIterator

from app.web.observability import client_network

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

CACHE_SECONDS = 365 * 24 * 3600
UNVERSIONED_CACHE_SECONDS = 3600
"""For files whose address has no version, above all /favicon.ico."""

COMPRESSED_TYPES = (
    "text/html",
    "text/css",
    "text/javascript",
    "text/markdown",
    "text/plain",
    "application/json",
    "application/ld+json",
    "application/problem+json",
    "image/svg+xml",
)
"""Without text/event-stream, so that each message leaves as it is written.

Pages can be compressed despite BREACH because a form's CSRF token differs every second.
"""

ALGORITHMS = ("br", "gzip")
"""In order of preference."""


def cache_static_files(app: Flask) -> None:
    """Let browsers cache the files of `static/`: for a year under an address that contains their version."""

    def cache_seconds(filename: str | None) -> int:
        return CACHE_SECONDS if "v" in request.args else UNVERSIONED_CACHE_SECONDS

    app.get_send_file_max_age = cache_seconds  # type: ignore[method-assign]

    @app.url_defaults
    def add_version(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static" and "v" not in values and app.static_folder:
            path = _file(app.static_folder, values["filename"])
            status = path.stat()
            values["v"] = _version(path, status.st_mtime_ns, status.st_size)


@lru_cache
def _file(folder: str, name: str) -> Path:
    return Path(folder) / name


@lru_cache
def _version(path: Path, changed_at: int, size: int) -> str:
    """Return eight digits of the file's hash, computed again when time or size changes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def compress(app: Flask) -> None:
    """Compress responses of COMPRESSED_TYPES where the client supports it."""
    app.config.update(
        COMPRESS_MIMETYPES=list(COMPRESSED_TYPES),
        COMPRESS_ALGORITHM=list(ALGORITHMS),
        COMPRESS_ALGORITHM_STREAMING=list(ALGORITHMS),
    )
    Compress(app)


class ThreadLimit:
    """Let at most `threads` requests compute at once (WSGI middleware). Waiting for a client does not count."""

    def __init__(self, application: WSGIApplication, threads: int) -> None:
        self._application, self._slots = application, threading.Semaphore(threads)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["wsgi.input"] = _RequestBody(environ["wsgi.input"], self._slots)
        with self._slots:
            chunks = self._application(environ, start_response)
        return ClosingIterator(self._computed(iter(chunks)), getattr(chunks, "close", None))

    def _computed(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the chunks of a response, holding the slot while one is computed, not while it is sent."""
        while True:
            with self._slots:
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk


class _RequestBody:
    """A request's body, which releases the slot while it waits for bytes."""

    def __init__(self, body: IO[bytes], slots: threading.Semaphore) -> None:
        self._body, self._slots = body, slots

    def read(self, size: int = -1) -> bytes:
        self._slots.release()
        try:
            return self._body.read(size)
        finally:
            self._slots.acquire()


TIMEOUT_SECONDS = 10
"""Seconds without a byte."""

MAX_WAIT_SECONDS = 10
MIN_BYTES_PER_SECOND = 1000
"""The server waits MAX_WAIT_SECONDS for a request, and a second more for each MIN_BYTES_PER_SECOND that it got."""

MAX_HALF_SENT = 400
"""Requests whose next bytes are awaited. They are fewer than Gunicorn's threads, so that other requests find one."""


class HalfSentRequests:
    """The requests whose next bytes are awaited, MAX_HALF_SENT at most. Thread-safe."""

    def __init__(self, maximum: int = MAX_HALF_SENT) -> None:
        self._maximum = maximum
        self._lock = threading.Lock()
        self._waiting: dict[RequestReader, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @contextmanager
    def waiting(self, reader: RequestReader) -> Iterator[None]:
        """Count this request inside the block. Above the maximum, disconnect the oldest of the client with most."""
        with self._lock:
            self._waiting[reader] = None
            if len(self._waiting) > self._maximum:
                ((client, _),) = Counter(each.client for each in self._waiting).most_common(1)
                oldest = min((each for each in self._waiting if each.client == client), key=lambda each: each.began_at)
                del self._waiting[oldest]
                oldest.disconnect()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.pop(reader, None)


class RequestReader(SocketUnreader):
    """Reads the requests of one connection, and disconnects a client that sends one too slowly."""

    def __init__(self, sock: socket.socket, client: str, half_sent: HalfSentRequests) -> None:
        super().__init__(sock)
        self.client = client_network(client)
        self._half_sent = half_sent
        self.begin()

    def begin(self) -> None:
        """Begin to read another request."""
        self.began_at = time.monotonic()
        self._waited, self._received = 0.0, 0

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return the next bytes. Raises BlockingIOError when they, or the request as a whole, take too long."""
        if self._waited > MAX_WAIT_SECONDS + self._received / MIN_BYTES_PER_SECOND:
            raise BlockingIOError(errno.EAGAIN, "the request was sent too slowly")
        asked_at = time.monotonic()
        with self._half_sent.waiting(self):
            data: bytes = super().chunk(size_hint)
        self._waited += time.monotonic() - asked_at  # not the time between, when the request waited for a slot
        self._received += len(data)
        return data

    def disconnect(self) -> None:
        """End the connection; its thread, which waits for bytes, gets none."""
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)


def set_socket_timeouts(listening: Iterable[socket.socket], seconds: int = TIMEOUT_SECONDS) -> None:
    """Disconnect clients of these sockets that neither send nor read for `seconds` in the middle of a request."""
    timeout = struct.pack("ll", seconds, 0)
    for each in listening:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)


class SlowClientLogFilter(logging.Filter):
    """Replace the traceback of a disconnected client by one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], BlockingIOError):
            record.msg, record.args, record.exc_info = "disconnected a client that was too slow", (), None
            record.levelno, record.levelname = logging.INFO, "INFO"
        return True
