"""Soak test of the real server: three concurrent runs, and visitors who read pages, follow runs and send bad requests.

    make soak [ARGS="--minutes 3"]

Prints a table; the exit code is 1 when a bound (docs/operations.md) is broken. After a fifth of the time the server is
stopped by SIGTERM during its runs and started again. The first run warms up the models and is not measured.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.soak_server import ROOT, Server
from benchmarks.soak_table import Findings, Memory, TakeOver, broken_bounds, table
from benchmarks.soak_visitors import Checker, Follower, InvalidClient, Reader, Shared

CONCURRENT_RUNS = 3
READERS, FOLLOWERS = 6, 4
CLAIMS = Path(__file__).with_name("soak_claims.txt")
RESTART_AT = 0.2
"""Share of the time before the restart; the second process then runs long enough to measure its memory."""

RUNS_PER_SAMPLE = 10
GRACE_SECONDS = 60.0
"""Time limit for runs that are unfinished at the end."""


class Soak:
    """A soak test: the server, its visitors and the measurements."""

    def __init__(self, server: Server, minutes: float) -> None:
        self.found = Findings()
        self._server, self._seconds = server, minutes * 60
        self._shared = Shared(server.port, CLAIMS.read_text(encoding="utf-8").splitlines(), Findings())
        self._process, self._runs_before = 1, 0

    def run(self) -> None:
        """Warm up the models, run the visitors, restart the server once, and wait for the unfinished runs."""
        self._server.start()
        self._warm()
        self._shared.found, self._shared.after_run = self.found, self._measure_memory
        visitors = [Checker(self._shared, n) for n in range(CONCURRENT_RUNS)]
        visitors += [Reader(self._shared, 10 + n) for n in range(READERS)]
        visitors += [Follower(self._shared, 20 + n) for n in range(FOLLOWERS)] + [InvalidClient(self._shared, 30)]
        threads = [threading.Thread(target=each.run) for each in visitors]
        for thread in threads:
            thread.start()
        time.sleep(self._seconds * RESTART_AT)
        interrupted, stop_seconds, start_seconds = self._restart()
        time.sleep(self._seconds * (1 - RESTART_AT))
        self._shared.stop.set()
        for thread in threads:
            thread.join()
        self._finish(interrupted, stop_seconds, start_seconds)

    def _warm(self) -> None:
        """Execute one run that is not measured."""
        first = Checker(self._shared, 0)
        while not self._shared.finished:
            first.act()

    def _restart(self) -> tuple[set[str], float, float]:
        """Restart the server; return the interrupted runs and the seconds that stop and start took."""
        self._shared.restarting.set()
        interrupted = set(self._shared.running)
        stop_seconds = self._server.stop()
        self._process, self._runs_before = 2, len(self.found.runs)
        start_seconds = self._server.start()
        time.sleep(1)  # for requests that failed during the restart
        self._shared.restarting.clear()
        return interrupted, stop_seconds, start_seconds

    def _measure_memory(self) -> None:
        runs = len(self.found.runs) - self._runs_before
        if runs % RUNS_PER_SAMPLE == 0 and not self._shared.restarting.is_set():
            self.found.memory.append(Memory(self._process, runs, self._server.megabytes()))

    def _finish(self, interrupted: set[str], stop_seconds: float, start_seconds: float) -> None:
        end = time.monotonic() + GRACE_SECONDS
        while self._server.count_states()["running"] and time.monotonic() < end:
            time.sleep(0.5)
        states = self._server.states()
        self.found.states = self._server.count_states()
        verdicts = sum(states.get(run) == "verdict" for run in interrupted)
        self.found.take_over = TakeOver(stop_seconds, start_seconds, len(interrupted), verdicts)
        self._server.stop()
        self.found.error_lines = self._server.error_lines()


def main() -> int:
    """Run the soak test, print the table, and return the exit code, 1 when a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--instance", type=Path, default=ROOT / "instance", help="folder of models and corpora")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hopcheck-soak-") as folder:
        load = os.getloadavg()[0]
        with Server(Path(folder), chosen.instance.resolve(), CONCURRENT_RUNS) as server:
            soak = Soak(server, chosen.minutes)
            soak.run()
    print(f"{chosen.minutes:g} minutes on {os.cpu_count()} cores (load before: {load:.1f}),")
    print(f"{CONCURRENT_RUNS} concurrent runs, {READERS} readers, {FOLLOWERS} followers, 1 invalid client.\n")
    print(table(soak.found))
    return int(bool(broken_bounds(soak.found)))


if __name__ == "__main__":
    sys.exit(main())
