"""Clients that stop sending a request or reading the response are disconnected."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator

import pytest

from app.web.http_delivery import ShortenTimeouts, set_socket_timeouts


@pytest.fixture
def connection() -> Iterator[socket.socket]:
    """The server's end of a connection whose other end neither sends nor reads."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        set_socket_timeouts([listening], seconds=1)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            accepted.setblocking(True)
            yield accepted


def test_reading_from_a_silent_client_times_out(connection):
    with pytest.raises(BlockingIOError):
        connection.recv(1)


def test_writing_to_a_client_that_does_not_read_times_out(connection):
    with pytest.raises(BlockingIOError):
        connection.sendall(b"x" * 100_000_000)


@pytest.mark.parametrize(
    ("error", "expected"),
    [(BlockingIOError(11, "unavailable"), "a client was too slow and was cut off"), (OSError(5, "broken"), "Trouble.")],
)
def test_a_slow_client_is_logged_in_one_line_and_other_errors_in_full(error, expected):
    record = logging.LogRecord("gunicorn.error", logging.ERROR, "", 1, "Trouble.", (), (type(error), error, None))
    assert ShortenTimeouts().filter(record) and record.getMessage() == expected
    assert (record.exc_info is None) == isinstance(error, BlockingIOError)
