"""A private Redis for tests: Debian's server on a free loopback port, without persistence."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis import Redis, RedisError

from tests.ports import free_port
from tests.waiting import LONG, until


class RedisServer:
    """A server that tests can stop, suspend, empty and start again at the same address."""

    def __init__(self, program: str, port: int) -> None:
        self._program = program
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    @property
    def client(self) -> Redis:
        """Return a connection for the test."""
        return Redis.from_url(self.url)

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = ("--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
        self._process = subprocess.Popen([self._program, *options], stdout=subprocess.DEVNULL)
        until(self._answers, "a Redis that answers")

    def stop(self) -> None:
        """Stop it; its data is lost."""
        if self._process:
            self._process.kill()
            self._process.wait(LONG)

    def hold(self) -> None:
        """Suspend it: connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def release(self) -> None:
        """Resume it."""
        self._signal(signal.SIGCONT)

    def _signal(self, which: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(which)

    def _answers(self) -> bool:
        assert self._process and self._process.poll() is None, "Redis did not start"
        try:
            return bool(self.client.ping())
        except RedisError:
            return False


@contextmanager
def running() -> Iterator[RedisServer]:
    """A server for the block. Skips the test that asks for it where Redis is not installed."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("Redis is not installed; on Debian: apt-get install redis-server")
    server = RedisServer(program, free_port())
    try:
        server.start()
        yield server
    finally:
        server.stop()
