"""The server as it is started: gunicorn with gunicorn.conf.py, in a process of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def served(instance: Path, port: int) -> Iterator[subprocess.Popen]:
    """Gunicorn on `port`, once it answers."""
    environment = {**os.environ, "INSTANCE": str(instance), "PORT": str(port), "HOST": "127.0.0.1"}
    command = [sys.executable, "-m", "gunicorn", "tests.web.served:slow_app()"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not answers(port):
            assert process.poll() is None and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def answers(port: int) -> bool:
    try:
        return build_opener().open(f"http://127.0.0.1:{port}/", timeout=10).status == 200
    except OSError:  # nobody listens yet, or too slow as yet
        return False


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_run_outlives_its_server_and_its_link_works_after_a_restart(tmp_path, port):
    """Stopping takes less than ten seconds even with a follower; the next server brings the run to its verdict."""
    address, browser = f"http://127.0.0.1:{port}", build_opener(HTTPCookieProcessor(CookieJar()))
    with served(tmp_path, port) as server:
        token = re.search(r'name="csrf_token" value="([^"]+)"', browser.open(address).read().decode())[1]
        form = urlencode({"csrf_token": token, "claim": "Hamlet's author was born in England."}).encode()
        page = browser.open(f"{address}/runs", form)
        link = page.url
        follower = browser.open(f"{link}/events")
        while b"Who wrote Hamlet?" not in follower.readline():
            pass
        stopped_at = time.monotonic()
        server.terminate()
        assert server.wait(30) == 0
        assert time.monotonic() - stopped_at < 10
    with served(tmp_path, port):
        deadline = time.monotonic() + 30
        while 'id="verdict-heading"' not in (text := browser.open(link).read().decode()):
            assert time.monotonic() < deadline, text
            time.sleep(0.2)
        assert text.count("Who wrote Hamlet?") == 1 and "No verdict" not in text
        assert "Hamlet&#39;s author" in browser.open(address).read().decode(), "the browser's own runs are remembered"
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
