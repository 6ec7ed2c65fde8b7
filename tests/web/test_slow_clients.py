"""Clients that stop sending a request or reading the response are disconnected."""

from __future__ import annotations

import logging
import runpy
import selectors
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config

from app.config.settings import ROOT
from app.web import http_delivery
from app.web.http_delivery import (
    HalfSentRequests,
    RequestReader,
    SlowClientLogFilter,
    ThreadLimit,
    set_socket_timeouts,
)
from tests.waiting import LONG, until


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


@pytest.fixture
def pairs() -> Iterator[list[tuple[socket.socket, socket.socket]]]:
    """Four connections: the server's and the client's end of each."""
    made = [socket.socketpair() for _ in range(4)]
    yield made
    for each in (end for pair in made for end in pair):
        each.close()


@pytest.mark.parametrize(("sent_bytes", "is_refused"), [(1, True), (9_000, True), (11_000, False)])
def test_a_request_may_take_longer_the_more_of_it_has_come(pairs, monkeypatch, sent_bytes, is_refused):
    server, client = pairs[0]
    reader = RequestReader(server, "192.0.2.1", HalfSentRequests())
    client.sendall(b"x" * sent_bytes)
    now = iter((0.0, 20.0))
    monkeypatch.setattr(http_delivery.time, "monotonic", lambda: next(now))
    assert len(reader.chunk(sent_bytes)) == sent_bytes
    monkeypatch.undo()
    client.sendall(b"y")
    if is_refused:
        with pytest.raises(BlockingIOError):
            reader.chunk()
    else:
        assert reader.chunk() == b"y"
    reader.begin()
    client.sendall(b"z")
    assert reader.chunk() in (b"z", b"yz")


@pytest.mark.parametrize(
    ("clients", "disconnected"),
    [
        (("192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.3"), 1),
        (("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"), 0),
        (("2001:db8::9", "2001:db8:0:1::1", "2001:db8:0:1::2", "192.0.2.2"), 1),
    ],
)
def test_above_the_maximum_the_oldest_half_sent_request_of_the_client_with_most_is_disconnected(
    pairs, clients, disconnected
):
    half_sent = HalfSentRequests(3)
    readers = [RequestReader(server, client, half_sent) for (server, _), client in zip(pairs, clients, strict=True)]
    with ThreadPoolExecutor(4) as pool:
        results = []
        for number, reader in enumerate(readers, 1):
            results.append(pool.submit(reader.chunk))
            until(lambda number=number: len(half_sent) >= min(number, 3), "a request that waits")
        assert results[disconnected].result(LONG) == b""
        for number, (_, client) in enumerate(pairs):
            if number != disconnected:
                client.sendall(b"rest")
                assert results[number].result(LONG) == b"rest"
    assert len(half_sent) == 0


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BlockingIOError(11, "unavailable"), "disconnected a client that was too slow"),
        (OSError(5, "broken"), "Trouble."),
    ],
)
def test_a_slow_client_is_logged_in_one_line_and_other_errors_in_full(error, expected):
    record = logging.LogRecord("gunicorn.error", logging.ERROR, "", 1, "Trouble.", (), (type(error), error, None))
    assert SlowClientLogFilter().filter(record) and record.getMessage() == expected
    assert (record.exc_info is None) == isinstance(error, BlockingIOError)


def test_a_silent_connection_may_send_as_too_many_others_connect():
    """The worker once closed it before it handled its bytes, and ended, with all that it served."""
    settings = runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    worker = settings["Worker"](1, 0, [], None, 30, Config(), logging.getLogger())
    given: list[Any] = []
    with ExitStack() as ends, socket.create_server(("127.0.0.1", 0), backlog=500) as listening:
        worker.poller = ends.enter_context(selectors.DefaultSelector())
        worker.tpool = SimpleNamespace(submit=lambda _, conn: given.append(conn) or Future())
        worker.sockets = [listening]
        worker.set_accept_enabled(True)

        def connect() -> socket.socket:
            return ends.enter_context(socket.create_connection(listening.getsockname()))

        oldest, *_ = [connect() for _ in range(settings["MAX_SILENT"])]
        while len(worker.pending_conns) < settings["MAX_SILENT"]:
            worker.wait_for_and_dispatch_events(LONG)
        connect()
        oldest.sendall(b"GET")
        worker.wait_for_and_dispatch_events(LONG)
        assert len(given) == 1 and len(worker.pending_conns) == settings["MAX_SILENT"]
        _, closed, *_ = connect(), worker.pending_conns[0]
        worker.wait_for_and_dispatch_events(LONG)
        worker.murder_pending()
        assert len(worker.pending_conns) == settings["MAX_SILENT"] and closed.sock.fileno() == -1
        for conn in (*given, *worker.pending_conns):
            conn.close()


def serve(limit: ThreadLimit, body: Any = None) -> Iterable[bytes]:
    return limit({"wsgi.input": body or BytesIO()}, lambda *_: None)


def test_no_more_requests_compute_at_once_than_there_are_threads():
    computing, most = [0], []

    def application(environ, start_response):
        computing[0] += 1
        most.append(computing[0])
        time.sleep(0.05)
        computing[0] -= 1
        return [b""]

    limit = ThreadLimit(application, 2)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: list(serve(limit)), range(8)))
    assert max(most) == 2 and len(most) == 8


def test_a_request_takes_no_thread_while_its_body_is_awaited_or_its_response_is_sent():
    sent = threading.Event()

    class HalfSent(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            assert sent.wait(LONG)
            return b"claim"

    def application(environ, start_response):
        body = environ["wsgi.input"].read(5)
        return (each for each in (body, b"end"))

    limit = ThreadLimit(application, 1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: list(serve(limit, HalfSent())))
        being_sent = iter(serve(limit, BytesIO(b"other")))
        assert next(being_sent) == b"other"
        assert list(serve(limit, BytesIO(b"third"))) == [b"third", b"end"]
        assert not waiting.done()
        sent.set()
        assert waiting.result(LONG) == [b"claim", b"end"]
    assert list(being_sent) == [b"end"]


def test_closing_a_response_closes_what_the_application_returned():
    closed = []

    def chunks():
        try:
            yield b"first"
        finally:
            closed.append(True)

    response = serve(ThreadLimit(lambda environ, start_response: chunks(), 1))
    next(iter(response))
    response.close()
    assert closed == [True]
