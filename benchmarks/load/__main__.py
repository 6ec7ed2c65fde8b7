"""Load tests of a real server (gunicorn, SQLite), and of workers with PostgreSQL and Redis.

    .venv/bin/python -m benchmarks.load [--minutes 1] [--only followers burst flood batch]

Every run uses a scripted model that takes 300 ms a call. Memory growth is measured from eight minutes on (`make soak`).
The exit code is 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator

from benchmarks.bench import HEADER, Line, describe_machine, table_row
from benchmarks.load.batch import batch
from benchmarks.load.followers import followers
from benchmarks.load.overload import burst, flood

PACKAGES = ("flask", "gunicorn", "sqlalchemy", "psycopg", "celery", "redis")
HOPS = 5
"""Kept hops of a run: 17 calls in a row, five seconds."""
BATCH_HOPS = 2

Part = Callable[[float], Iterator[Line]]
PARTS: dict[str, Part] = {
    "followers": lambda seconds: followers(seconds, HOPS),
    "burst": lambda seconds: burst(HOPS),
    "flood": lambda seconds: flood(HOPS),
    "batch": lambda seconds: batch(BATCH_HOPS),
}


def main() -> int:
    """Print the table and return the exit code, 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="duration of the followers test")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception stops the servers
    print(f"{describe_machine(PACKAGES)}\n\n{HEADER}", flush=True)
    is_missed = False
    for name in chosen.only:
        for line in PARTS[name](60 * chosen.minutes):
            print(table_row(line), flush=True)
            is_missed |= line.is_met is False
        print(f"| load average afterwards | {os.getloadavg()[0]:.1f} | | |", flush=True)
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
