"""The server under a soak: the real one, over the real models, with a database and a log of its own."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
START_SECONDS = 60.0
_BAD_LINE = re.compile(r"\b(ERROR|CRITICAL)\b|^Traceback")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Gunicorn with `runs_at_once` workers in `folder`; models and corpora are those of `instance`."""

    def __init__(self, folder: Path, instance: Path, runs_at_once: int) -> None:
        self.port = free_port()
        self._database, self._log = folder / "hopcheck.sqlite3", folder / "server.log"
        for made in ("models", "corpora"):
            (folder / made).symlink_to(instance / made, target_is_directory=True)
        self._env = os.environ | {
            "INSTANCE": str(folder),
            "DATABASE_URL": f"sqlite:///{self._database}",
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "WORKERS": str(runs_at_once),
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
        """Start it and wait until it serves; the seconds that took."""
        started = time.monotonic()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([BIN / "gunicorn"], cwd=ROOT, env=self._env, stdout=log, stderr=log)
        while not self._serves():
            if self._process.poll() is not None or time.monotonic() - started > START_SECONDS:
                raise SystemExit(f"The server did not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.05)
        return time.monotonic() - started

    def stop(self) -> float:
        """Send SIGTERM and wait; the seconds until it had left."""
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
        """Resident memory of the server and its workers together."""
        assert self._process is not None
        return megabytes(self._process.pid)

    def states(self) -> dict[str, str]:
        """How each run of the database stands."""
        connection = sqlite3.connect(self._database, timeout=30)
        try:
            return dict(connection.execute("SELECT id, state FROM runs"))
        finally:
            connection.close()

    def states_counted(self) -> Counter[str]:
        """How many runs stand how."""
        return Counter(self.states().values())

    def error_lines(self) -> list[str]:
        """The lines of the log that tell of errors."""
        return [line for line in self._log.read_text(errors="replace").splitlines() if _BAD_LINE.search(line)]

    def _serves(self) -> bool:
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


def megabytes(pid: int) -> float:
    """Resident memory of a process and all that descend from it; what they share counts twice."""
    return sum(map(_resident_kilobytes, _family(pid))) / 1024


def _family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in _family(int(child)))]


def _resident_kilobytes(pid: int) -> int:
    try:
        found = re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0
