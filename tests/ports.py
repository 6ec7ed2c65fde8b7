"""Ports for servers that bind them only later: each is given once, so that no other test's server is there first."""

from __future__ import annotations

import os
import socket
from itertools import count

FIRST, EACH = 10_000, 2_000
"""Where they begin, and how many a process has. Linux hands out 32768 and up to whoever wants any port."""

_numbers = count(os.getpid())


def free_port() -> int:
    """A port of the loopback where nobody listens, and that this process and its neighbours give nobody else."""
    mine = FIRST + EACH * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while not _is_free(port := mine + next(_numbers) % EACH):
        pass
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
