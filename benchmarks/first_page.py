"""How long `make run` takes to its first page in a clone that is set up: what a person waits for.

    python -m benchmarks.first_page                 five starts; their seconds, and the median
    python -m benchmarks.first_page --rounds 1 --parts

The promise is 5 s on an idle machine of two cores. Other programs make it slower, so their load is printed, too.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.02


def main() -> None:
    """Start, wait, print, stop; so many times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", action="store_true", help="also how long looking whether all is set up takes")
    chosen = parser.parse_args()
    if subprocess.run(["make", "setup"], cwd=ROOT).returncode:
        raise SystemExit(1)
    if chosen.parts:
        print(f"looking whether all is set up: {seconds_of([sys.executable, '-m', 'app.bootstrap']):.2f} s")
    taken = []
    for _ in range(chosen.rounds):
        taken.append(first_page(free_port()))
        print(f"first page after {taken[-1]:.2f} s (load {os.getloadavg()[0]:.1f})", flush=True)
    print(f"median {statistics.median(taken):.2f} s, most {max(taken):.2f} s")


def first_page(port: int) -> float:
    """Seconds from `make run` to the whole home page."""
    started = time.monotonic()
    with subprocess.Popen(
        ["make", "run"],
        cwd=ROOT,
        env=os.environ | {"PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            wait_for_page(f"http://127.0.0.1:{port}/", process)
            return time.monotonic() - started
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def wait_for_page(url: str, process: subprocess.Popen[bytes]) -> None:
    """Ask again until the page comes."""
    until = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as page:
                page.read()
                return
        except urllib.error.URLError:  # nobody listens yet
            time.sleep(LOOK_SECONDS)
    raise SystemExit("No page came. See what `make run` says.")


def seconds_of(command: list[str]) -> float:
    """How long a command takes."""
    started = time.monotonic()
    subprocess.run(command, cwd=ROOT, check=True)
    return time.monotonic() - started


def free_port() -> int:
    """A port where nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
