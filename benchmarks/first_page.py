"""Measure the time from `make run` to the first page, in a clone that is set up.

    python -m benchmarks.first_page                 five starts; their seconds, and the median
    python -m benchmarks.first_page --rounds 1 --parts

The goal is 5 s on an idle machine with two cores. Other programs make it slower, so the load is printed too.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.02


def main() -> None:
    """Measure every round and print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", action="store_true", help="also measure the check of the setup")
    chosen = parser.parse_args()
    if subprocess.run(["make", "setup"], cwd=ROOT).returncode:
        raise SystemExit(1)
    if chosen.parts:
        print(f"check of the setup: {seconds_of([sys.executable, '-m', 'app.bootstrap']):.2f} s")
    times = []
    for _ in range(chosen.rounds):
        times.append(first_page(free_port()))
        print(f"first page after {times[-1]:.2f} s (load {os.getloadavg()[0]:.1f})", flush=True)
    print(f"median {statistics.median(times):.2f} s, maximum {max(times):.2f} s")


def first_page(port: int) -> float:
    """Return the seconds from `make run` to the complete home page."""
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
    """Request the page until it is sent. Raises SystemExit when the server ends or the time is up."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as page:
                page.read()
                return
        except urllib.error.URLError:  # not listening yet
            time.sleep(POLL_SECONDS)
    raise SystemExit("The server sent no page; `make run` shows why.")


def seconds_of(command: list[str]) -> float:
    """Return the seconds that a command takes."""
    started = time.monotonic()
    subprocess.run(command, cwd=ROOT, check=True)
    return time.monotonic() - started


if __name__ == "__main__":
    main()
