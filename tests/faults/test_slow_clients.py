"""Hundreds of clients that read, send or close nothing, or send a byte now and then, do not keep others waiting."""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.web.http_delivery import TIMEOUT_SECONDS
from tests.faults.servers import Server, serving
from tests.waiting import LONG, until

LINGERING = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
"""A whole request; its client never closes the connection."""
PAGES = 20
"""As many are read at least, however busy the machine is: one slow page is no wait for a client."""
HEADERS = (
    b"POST /runs HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n"
)
HALF_SENT = (HEADERS, HEADERS + b"\r\nclaim=")
"""Requests that stop in the middle of their headers, or of their form."""
SILENT = b""
CLIENTS = (LINGERING,) * 100 + HALF_SENT * 50 + (SILENT,) * 100


@contextmanager
def connected(server: Server, requests: tuple[bytes, ...]) -> Iterator[list[socket.socket]]:
    """Connect a client for each request, send it, and keep the connection open."""
    address = ("127.0.0.1", int(server.address.rpartition(":")[2]))
    clients = [socket.create_connection(address, timeout=LONG) for _ in requests]
    try:
        for client, request in zip(clients, requests, strict=True):
            client.sendall(request)
        yield clients
    finally:
        for client in clients:
            client.close()


def test_hundreds_of_slow_clients_do_not_keep_others_waiting(instance):
    with serving(instance, THREADS="4") as server:
        server.get("/")
        began, seconds = time.monotonic(), []
        with connected(server, CLIENTS) as clients:
            while time.monotonic() - began < TIMEOUT_SECONDS + 4 or len(seconds) < PAGES:
                for path in "/", "/healthz", "/how-it-works":
                    asked_at = time.monotonic()
                    assert server.get(path, timeout=LONG).status == 200
                    seconds.append(time.monotonic() - asked_at)
                time.sleep(0.05)
            *_, usual = statistics.quantiles(seconds, n=20)
            print(f"{len(seconds)} pages: 19 of 20 under {usual:.3f} s, longest {max(seconds):.3f} s")
            assert statistics.median(seconds) < 2 and usual < TIMEOUT_SECONDS, "it waits for no client"
            for client in clients:
                with suppress(ConnectionResetError):  # which is how a connection closes whose bytes were not all read
                    while client.recv(4096):  # until the server closes the connection
                        pass
        until(lambda: "disconnected a client that was too slow" in server.said(), "a line about a slow client")
        assert "Traceback" not in server.said()


MANY = 800
"""As many connections as the server takes."""


def test_as_many_half_sent_requests_as_there_are_connections_do_not_keep_others_waiting(instance):
    """They send a byte now and then, and connect again when they are disconnected."""
    with serving(instance, THREADS="4") as server:
        server.get("/")
        address = ("127.0.0.1", int(server.address.rpartition(":")[2]))
        began, seconds, clients = time.monotonic(), [], {}
        while time.monotonic() - began < TIMEOUT_SECONDS + 4 or len(seconds) < PAGES:
            for number in range(MANY):
                try:
                    clients[number].sendall(b"x")
                except (KeyError, OSError):
                    if number in clients:
                        clients.pop(number).close()
                    client = socket.create_connection(address, timeout=LONG)
                    client.sendall(HEADERS + b"X-Slow: " if number % 2 else HALF_SENT[1])
                    clients[number] = client
            for path in "/", "/healthz", "/how-it-works":
                asked_at = time.monotonic()
                assert server.get(path, timeout=LONG).status == 200
                seconds.append(time.monotonic() - asked_at)
            time.sleep(0.5)
        *_, usual = statistics.quantiles(seconds, n=20)
        print(f"{len(seconds)} pages: 19 of 20 under {usual:.3f} s, longest {max(seconds):.3f} s")
        for client in clients.values():
            client.close()
        assert usual < TIMEOUT_SECONDS and "Traceback" not in server.said()
