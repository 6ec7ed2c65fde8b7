"""As many slow clients as the server has threads keep others waiting for seconds, not forever."""

from __future__ import annotations

import socket
import time

from app.web.http_delivery import TIMEOUT_SECONDS
from tests.faults.servers import serving
from tests.waiting import LONG

FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n"
HEADERS = b"POST /runs HTTP/1.1\r\nHost: x\r\n" + FORM
UNFINISHED = (HEADERS, HEADERS + b"\r\nclaim=")
"""Requests that stop in the middle of their headers, or of their form."""


def test_clients_that_stop_in_the_middle_of_a_request_do_not_keep_their_threads(instance):
    with serving(instance, THREADS="4") as server:
        address = ("127.0.0.1", int(server.address.rpartition(":")[2]))
        slow = [socket.create_connection(address, timeout=LONG) for _ in range(4)]
        for number, each in enumerate(slow):
            each.sendall(UNFINISHED[number % 2])
        began = time.monotonic()
        assert server.get("/how-it-works", timeout=LONG).status == 200
        assert time.monotonic() - began > TIMEOUT_SECONDS / 2, "all threads were taken"
        for each in slow:
            each.recv(1)  # a response or the end of the connection: the server has finished with it
            each.close()
        assert "a client was too slow and was cut off" in server.said() and "Traceback" not in server.said()
