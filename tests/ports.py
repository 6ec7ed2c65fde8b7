"""Free ports for servers that bind them later; each is handed out once, so that no other test can take it."""

from __future__ import annotations

import os
import socket
from itertools import count

FIRST, EACH = 10_000, 2_000
"""First port, and number of ports per process. Linux assigns ephemeral ports from 32768."""

_numbers = count(os.getpid())


def free_port() -> int:
    """Return a free loopback port that neither this process nor its neighbours hand out again."""
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
