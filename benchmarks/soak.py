"""A mixed soak of the real server: three runs execute all the time while people read, follow, leave and blunder.

    make soak [ARGS="--minutes 3"]

Prints the table that docs/soak.md keeps, and leaves with 1 when a bound is broken. A fifth of the way the server is
stopped by SIGTERM in the middle of its runs and started again. The first run warms the models and is not counted.
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
from benchmarks.soak_table import Findings, Memory, TakeOver, broken, table
from benchmarks.soak_visitors import Blunderer, Checker, Follower, Reader, World

RUNS_AT_ONCE = 3
READERS, FOLLOWERS = 6, 4
CLAIMS = Path(__file__).with_name("soak_claims.txt")
TAKE_OVER_AT = 0.2
"""Of the whole time. The second life of the server is then long enough to show that its memory is flat."""

RUNS_PER_SAMPLE = 10
GRACE_SECONDS = 60.0
"""For runs that were going on at the end, before they are counted."""


class Soak:
    """One soak: the server, its visitors, and what was found."""

    def __init__(self, server: Server, minutes: float) -> None:
        self.found = Findings()
        self._server, self._seconds = server, minutes * 60
        self._world = World(server.port, CLAIMS.read_text(encoding="utf-8").splitlines(), Findings())
        self._life, self._runs_before = 1, 0

    def carry_out(self) -> None:
        """Warm the models, then let the visitors in, take the server over once, and see everything to its end."""
        self._server.start()
        self._warm()
        self._world.found, self._world.on_end = self.found, self._measure_memory
        visitors = [Checker(self._world, n) for n in range(RUNS_AT_ONCE)]
        visitors += [Reader(self._world, 10 + n) for n in range(READERS)]
        visitors += [Follower(self._world, 20 + n) for n in range(FOLLOWERS)] + [Blunderer(self._world, 30)]
        threads = [threading.Thread(target=each.live) for each in visitors]
        for thread in threads:
            thread.start()
        time.sleep(self._seconds * TAKE_OVER_AT)
        cut_off, left_after, serving_after = self._restart()
        time.sleep(self._seconds * (1 - TAKE_OVER_AT))
        self._world.over.set()
        for thread in threads:
            thread.join()
        self._finish(cut_off, left_after, serving_after)

    def _warm(self) -> None:
        """One run to its end, by somebody whom nobody measures."""
        first = Checker(self._world, 0)
        while not self._world.finished:
            first.act()

    def _restart(self) -> tuple[set[str], float, float]:
        """Which runs were cut off, and the seconds until the server had left and until it was back."""
        self._world.away.set()
        cut_off = set(self._world.running)
        left_after = self._server.stop()
        self._life, self._runs_before = 2, len(self.found.runs)
        serving_after = self._server.start()
        time.sleep(1)  # whoever was refused has seen it by then
        self._world.away.clear()
        return cut_off, left_after, serving_after

    def _measure_memory(self) -> None:
        runs = len(self.found.runs) - self._runs_before
        if runs % RUNS_PER_SAMPLE == 0 and not self._world.away.is_set():
            self.found.memory.append(Memory(self._life, runs, self._server.megabytes()))

    def _finish(self, cut_off: set[str], left_after: float, serving_after: float) -> None:
        end = time.monotonic() + GRACE_SECONDS
        while self._server.states_counted()["running"] and time.monotonic() < end:
            time.sleep(0.5)
        states = self._server.states()
        self.found.states = self._server.states_counted()
        ended = sum(states.get(run) == "verdict" for run in cut_off)
        self.found.take_over = TakeOver(left_after, serving_after, len(cut_off), ended)
        self._server.stop()
        self.found.error_lines = self._server.error_lines()


def main() -> int:
    """Soak for so many minutes; 1 when a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--instance", type=Path, default=ROOT / "instance", help="where models and corpora are")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hopcheck-soak-") as folder:
        load = os.getloadavg()[0]
        with Server(Path(folder), chosen.instance.resolve(), RUNS_AT_ONCE) as server:
            soak = Soak(server, chosen.minutes)
            soak.carry_out()
    print(
        f"{chosen.minutes:g} minutes on {os.cpu_count()} cores (load before: {load:.1f}), {RUNS_AT_ONCE} runs at once,"
    )
    print(f"{READERS} readers, {FOLLOWERS} followers, 1 who errs.\n")
    print(table(soak.found))
    return 1 if broken(soak.found) else 0


if __name__ == "__main__":
    sys.exit(main())
