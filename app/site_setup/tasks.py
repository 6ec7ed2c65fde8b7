"""Run long commands of Hopcheck, such as a download, as processes that every process of the site can follow and stop.

Each task has a folder with what it does, its output and a lock. The process holds the lock as long as it runs, so that
its state is known without it. A stopped task is started again with the same command, which goes on where it was.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from app.config.settings import ROOT
from app.domain.errors import InvalidInput
from app.domain.messages import Words

MAX_RUNNING = 2
STOP_SECONDS = 5.0
"""Time that a process has to end before it is killed."""
MAX_TAIL_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Work:
    """What a task does: the arguments of the command, and paths in the instance folder by which it is followed."""

    name: str
    title: str
    arguments: tuple[str, ...]
    made: str
    """The file that exists once the task is done."""
    growing: str = ""
    """A pattern of the files that grow while it downloads."""
    bytes: int = 0
    """The size of the download."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task and its state. `line` is the last line of its output."""

    work: Work
    is_running: bool
    is_done: bool
    fetched: int
    line: str


class Tasks:
    """The tasks in an instance folder."""

    def __init__(self, instance: Path) -> None:
        self._instance = instance
        self._home = instance / "tasks"

    def all(self) -> tuple[Task, ...]:
        """Return every task, the newest first."""
        files = self._home.glob("*/task.json") if self._home.is_dir() else ()
        found = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
        return tuple(task for path in found if (task := self.get(path.parent.name)))

    def get(self, name: str) -> Task | None:
        stored = self._read(name)
        if stored is None:
            return None
        work = Work(**{**stored["work"], "arguments": tuple(stored["work"]["arguments"])})
        growing = self._instance.glob(work.growing) if work.growing else ()
        running = self._is_running(name)
        made = (self._instance / work.made).exists()
        return Task(work, running, made and not running, sum(map(_size, growing)), self._last_line(name))

    def start(self, work: Work) -> None:
        """Start the command, unless it is running. Raises InvalidInput while MAX_RUNNING others are."""
        if sum(task.is_running and task.work.name != work.name for task in self.all()) >= MAX_RUNNING:
            raise InvalidInput(
                Words("{max_running} tasks are running; wait for one of them, or stop it.", max_running=MAX_RUNNING)
            )
        folder = self._home / work.name
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("ab") as lock:
            if not _acquire(lock.fileno()):
                return
            command = [sys.executable, "-m", "flask", "--app", "app", *work.arguments]
            environment = {**os.environ, "INSTANCE": str(self._instance), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
            with (folder / "output").open("wb") as output:
                process = subprocess.Popen(
                    ["nice", *command],
                    cwd=ROOT,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=[lock.fileno()],
                    start_new_session=True,
                )
            threading.Thread(target=process.wait, name=f"task {work.name}", daemon=True).start()
            self._write(work, process.pid)

    def stop(self, name: str) -> None:
        """Stop the process and return when it has ended. Raises InvalidInput for a process of another machine."""
        stored = self._read(name)
        if stored is None or not self._is_running(name):
            return
        if stored["host"] != socket.gethostname():
            raise InvalidInput(Words("This runs on {host} and can be stopped there only.", host=stored["host"]))
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(stored["pid"], number)
            if _until(lambda: not self._is_running(name), STOP_SECONDS):
                return

    def forget(self, name: str) -> None:
        """Remove the task of that name, which must not be running."""
        shutil.rmtree(self._home / name, ignore_errors=True)

    def _is_running(self, name: str) -> bool:
        try:
            with (self._home / name / "lock").open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # it was removed
            pass
        return False

    def _read(self, name: str) -> dict | None:
        try:
            return json.loads((self._home / name / "task.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def _write(self, work: Work, pid: int) -> None:
        path = self._home / work.name / "task.json"
        draft = path.with_suffix(".partial")
        draft.write_text(json.dumps({"work": asdict(work), "pid": pid, "host": socket.gethostname()}), "utf-8")
        draft.replace(path)

    def _last_line(self, name: str) -> str:
        try:
            with (self._home / name / "output").open("rb") as output:
                output.seek(max(0, os.fstat(output.fileno()).st_size - MAX_TAIL_BYTES))
                lines = output.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _acquire(lock: int) -> bool:
    """Lock the file for a process that inherits it; return whether that succeeded. Readers hold it for a moment."""

    def is_acquired() -> bool:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return _until(is_acquired, 0.5)


def _until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Wait until `is_so`, at most so many seconds; return whether it is."""
    deadline = time.monotonic() + seconds
    while not (found := is_so()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # it was renamed
        return 0
