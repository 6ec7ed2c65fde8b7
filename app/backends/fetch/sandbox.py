"""Run a parser script in a process with limits on memory, time and file size, since documents are untrusted.

`run_sandboxed` starts this file as a script, which sets the limits and then runs the given script. It runs isolated
(`python -I`), so it imports no module of this package, and with only ENVIRONMENT of our variables: others may be keys.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Mapping

ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR")
"""Environment variables that are passed on."""
MAX_FILE_BYTES = 64 * 1024**2
"""Limit of each file that the process writes."""


class UnreadableSource(Exception):
    """A document cannot be read. The message continues a sentence that begins with its name."""


def run_sandboxed(
    script: str, *arguments: str, seconds: float, memory: int, problems: Mapping[int, str], data: bytes = b""
) -> bytes:
    """Run `script` with `data` as its standard input and return its output. `memory` is in bytes of address space.

    Raises UnreadableSource after `seconds`, and with the problem of its exit code; that of 1 stands for unknown codes.
    """
    # The limit of CPU time is for when this process dies before it can kill the other.
    command = [sys.executable, "-I", __file__, str(int(seconds) + 1), str(memory), script, *arguments]
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        raise UnreadableSource(f"takes longer than {seconds:g} seconds to read") from None
    if done.returncode:
        raise UnreadableSource(problems.get(done.returncode, problems[1]))
    return done.stdout


def main(seconds: str, memory: str, script: str, *arguments: str) -> None:
    """Set the limits, then run `script`. Runs in the child process."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing too much raises an error instead of killing
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
