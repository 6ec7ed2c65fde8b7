"""Start processes as forks of one that has imported the application, which is most of what a start takes.

Each is a process of its own, with its settings, log, threads and signals, that runs a module as `python -m` does.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.faults.preloaded"])


class ForkedProcess:
    """A running module, with the attributes of subprocess.Popen that tests use."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> None:
        """Run `python -m COMMAND`; the arguments after it are as in subprocess.Popen."""
        log.touch()
        self._process = _context.Process(target=_run, args=(command, folder, dict(environment), log))
        self._process.start()
        self.pid: int = self._process.pid
        self.terminate, self.kill, self.poll = self._process.terminate, self._process.kill, self._exit_code

    def wait(self, timeout: float) -> int:
        """Return the exit code. Raises TimeoutExpired."""
        self._process.join(timeout)
        if (code := self._exit_code()) is None:
            raise subprocess.TimeoutExpired("a forked process", timeout)
        return code

    def _exit_code(self) -> int | None:
        return self._process.exitcode


def _run(command: Sequence[str], folder: Path, environment: dict[str, str], log: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    file = os.open(log, os.O_WRONLY | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    sys.argv = [*command]
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)
