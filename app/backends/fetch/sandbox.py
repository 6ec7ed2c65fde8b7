"""Run one of our scripts in a process that has little memory and time, and is killed when it wants more.

Whoever made a document may have made it to hang or to swell whatever parses it. This file is both sides:
`run_sandboxed` starts it as a script, which limits itself and then turns into the script that was asked for. That one
runs isolated (`python -I`), so it imports nothing of ours, and without our environment, which may hold keys.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys

ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR")
"""What the process is told of ours."""
MAX_FILE_BYTES = 64 * 1024**2
"""Bytes of any one file that may be written."""


def run_sandboxed(
    script: str, *arguments: str, seconds: float, memory: int, data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run `script` with `data` as its standard input; its exit code and what it printed.

    Raises subprocess.TimeoutExpired when it was not done after `seconds` and has been killed. `memory` is in bytes of
    address space.
    """
    command = [sys.executable, "-I", __file__, str(int(seconds) + 1), str(memory), script, *arguments]
    told = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    return subprocess.run(command, input=data, capture_output=True, timeout=seconds, env=told)


def main(seconds: str, memory: str, script: str, *arguments: str) -> None:
    """The other process: set the limits, then become `script`."""
    _limit(int(seconds), int(memory))
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


def _limit(seconds: int, memory: int) -> None:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing too much is an error and no death
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))


if __name__ == "__main__":
    main(*sys.argv[1:])
