"""What a node and its workers hold, measured on the real thing: gunicorn, SQLite; then PostgreSQL, Redis and workers.

    .venv/bin/python -m benchmarks.load [--minutes 1] [--only followers burst flood batch]

Every run asks a scripted model that takes 300 ms a call. Memory is judged from eight minutes on (`make soak`). Leaves
with 1 when a bound is broken.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator

from benchmarks.bench import Line, machine, row
from benchmarks.load.batching import batch
from benchmarks.load.crowding import burst, flood
from benchmarks.load.following import followers

PACKAGES = ("flask", "gunicorn", "sqlalchemy", "psycopg", "celery", "redis")
HOPS = 5
"""A run of the crowds keeps so many: 17 calls in a row, five seconds."""

BATCH_HOPS = 2

Part = Callable[[float], Iterator[Line]]
PARTS: dict[str, Part] = {
    "followers": lambda seconds: followers(seconds, HOPS),
    "burst": lambda seconds: burst(HOPS),
    "flood": lambda seconds: flood(HOPS),
    "batch": lambda seconds: batch(BATCH_HOPS),
}


def main() -> int:
    """Print the table; 1 when a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long the followers follow")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no server is left behind
    print(f"{machine(PACKAGES)}\n\n| what | came out | goal | |\n|---|---|---|---|", flush=True)
    broken = False
    for name in chosen.only:
        for line in PARTS[name](60 * chosen.minutes):
            print(row(line), flush=True)
            broken |= line.holds is False
        print(f"| load average after it | {os.getloadavg()[0]:.1f} | | |", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
