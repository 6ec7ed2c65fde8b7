"""Run the real server with the real models for the soak test, with a database and a log of its own."""

from __future__ import annotations

import http.client
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
START_SECONDS = 60.0
_ERROR_LINE = re.compile(r"\b(ERROR|CRITICAL)\b|^Traceback")


class Server:
    """Gunicorn with `concurrent_runs` workers in `folder`; models and corpora are those of `instance`."""

    def __init__(self, folder: Path, instance: Path, concurrent_runs: int) -> None:
        self.port = free_port()
        self._database, self._log = folder / "hopcheck.sqlite3", folder / "server.log"
        for name in ("models", "corpora"):
            (folder / name).symlink_to(instance / name, target_is_directory=True)
        self._env = os.environ | {
            "INSTANCE": str(folder),
            "DATABASE_URL": f"sqlite:///{self._database}",
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "WORKERS": str(concurrent_runs),
            "MAX_WAITING": "50",
            "RATE_LIMIT": "100000 per minute",
            "LOG_LEVEL": "INFO",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._run("flask", "--app", "app", "db", "upgrade")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self.stop()

    def start(self) -> float:
        """Start the server, wait until it answers, and return the seconds that took."""
        started = time.monotonic()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([BIN / "gunicorn"], cwd=ROOT, env=self._env, stdout=log, stderr=log)
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() - started > START_SECONDS:
                raise SystemExit(f"The server did not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.05)
        return time.monotonic() - started

    def stop(self) -> float:
        """Send SIGTERM and return the seconds until the server has exited."""
        assert self._process is not None
        started = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        return time.monotonic() - started

    def megabytes(self) -> float:
        """Return the resident memory of the server and its workers together."""
        assert self._process is not None
        return megabytes(self._process.pid)

    def states(self) -> dict[str, str]:
        """Return the state of each run by id."""
        connection = sqlite3.connect(self._database, timeout=30)
        try:
            return dict(connection.execute("SELECT id, state FROM runs"))
        finally:
            connection.close()

    def count_states(self) -> Counter[str]:
        """Return the number of runs in each state."""
        return Counter(self.states().values())

    def error_lines(self) -> list[str]:
        """Return the lines of the log with errors."""
        return error_lines(self._log.read_text(errors="replace"))

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/static/")
            return connection.getresponse().status > 0
        except OSError:
            return False
        finally:
            connection.close()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run([BIN / program, *arguments], cwd=ROOT, env=self._env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{program} {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")


def error_lines(log: str) -> list[str]:
    """Return the lines of a log with errors."""
    return [line for line in log.splitlines() if _ERROR_LINE.search(line)]


def megabytes(pid: int) -> float:
    """Return the resident memory of a process and its descendants; shared memory is counted for each."""
    return sum(map(_resident_kilobytes, _with_descendants(pid))) / 1024


def _with_descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in _with_descendants(int(child)))]


def _resident_kilobytes(pid: int) -> int:
    try:
        found = re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0
