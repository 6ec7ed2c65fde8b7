"""Measure Hopcheck's own time: a hop whose models answer instantly, and fifty concurrent runs with 300 ms a call.

    .venv/bin/python -m benchmarks.overhead [--runs 50] [--hops 3] [--seconds 0.3]

The application runs in this process as in a server: SQLite in a file, job threads, the call log, and one reader per run
who follows its stream. The modules are the prompted ones with their real prompts over a scripted language model; only
the network is missing. A run is timed from its start to the last message of its stream.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from flask import Flask

from app import create_app
from app.config.settings import Settings
from app.container.container import Container
from app.domain.events import VerdictReached
from app.domain.model import Claim, RunOptions
from app.domain.ports import Strategy
from benchmarks.critical_path import CLAIM, InstantAnswerer, Scripted, question_guided
from benchmarks.soak_table import percentile

MAX_MS_PER_HOP = 10.0
MAX_RATIO = 2.0
OWNER = "somebody"


class ScriptedContainer(Container):
    """A container whose runs keep `hops` hops, each run with a scripted model whose calls take `seconds`."""

    def __init__(self, settings: Settings, hops: int, seconds: float) -> None:
        super().__init__(settings)
        self.hops, self.seconds = hops, seconds

    def strategy_for(self, options: RunOptions) -> Strategy:
        return question_guided(Scripted(self.seconds, self.hops), InstantAnswerer(), speculative=True)


class RunTime(NamedTuple):
    """The duration of a run as its reader saw it, and the number of messages of its stream."""

    seconds: float
    messages: int


@contextmanager
def application(hops: int, seconds: float, workers: int) -> Iterator[Flask]:
    """Yield the application with a fresh database, `workers` concurrent runs and a thread for each reader."""
    from app.extensions import db

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            instance=Path(folder),
            database_url=f"sqlite:///{folder}/runs.sqlite3",
            workers=workers,
            threads=workers + 8,
        )
        app = create_app(settings, ScriptedContainer(settings, hops, seconds), commands=False)
        with app.app_context():
            db.create_all()
        try:
            yield app
        finally:
            app.extensions["hopcheck"].runs.stop(2.0)


def follow_run(app: Flask, number: int) -> RunTime:
    """Start a run of a new claim, which no cache has, and follow it to its end."""
    runs = app.extensions["hopcheck"].runs
    started = time.perf_counter()
    run_id = runs.start(Claim(f"{CLAIM.text} ({number})"), RunOptions(max_hops=10), OWNER)
    reply = app.test_client().get(f"/runs/{run_id}/events", buffered=False)
    messages = sum(b"event: update" in message for message in reply.response)
    seconds = time.perf_counter() - started
    (*_, last) = runs.follow(run_id, 0, 0.0)
    if not isinstance(last.event, VerdictReached):
        raise SystemExit(f"a run ended with {last.event}")
    return RunTime(seconds, messages)


def concurrent_runs(app: Flask, count: int) -> list[RunTime]:
    """Execute `count` runs that start at the same moment."""
    times: list[RunTime] = []
    barrier = threading.Barrier(count)

    def execute(number: int) -> None:
        barrier.wait()
        times.append(follow_run(app, number))

    threads = [threading.Thread(target=execute, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(times) < count:
        raise SystemExit("a run could not be started")
    return times


def milliseconds_per_hop(hops: int = 5, rounds: int = 15) -> tuple[float, float]:
    """Return the median milliseconds per hop of a run whose models answer instantly, and its median CPU time."""
    with application(hops, seconds=0.0, workers=1) as app:
        follow_run(app, -1)  # the first run compiles templates, statements and prompts
        wall, cpu = [], []
        for number in range(rounds):
            started = time.process_time()
            wall.append(follow_run(app, number).seconds)
            cpu.append(time.process_time() - started)
    return 1000 * statistics.median(wall) / hops, 1000 * statistics.median(cpu) / hops


class Concurrency(NamedTuple):
    """Seconds of a single run (median) and of concurrent runs (95th percentile)."""

    single: float
    p95: float

    @property
    def ratio(self) -> float:
        return self.p95 / self.single


def measure_concurrency(count: int = 50, hops: int = 3, seconds: float = 0.3) -> Concurrency:
    """Compare `count` concurrent runs with single ones."""
    with application(hops, seconds, workers=count) as app:
        single = statistics.median(follow_run(app, -1 - number).seconds for number in range(3))
        times = [each.seconds for each in concurrent_runs(app, count)]
    return Concurrency(single, percentile(times, 95))


def main() -> None:
    """Print both measurements."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--runs", type=int, default=50)
    arguments.add_argument("--hops", type=int, default=3)
    arguments.add_argument("--seconds", type=float, default=0.3, help="duration of a model call")
    options = arguments.parse_args()
    wall, cpu = milliseconds_per_hop()
    print(f"{wall:.1f} ms a hop, {cpu:.1f} ms of CPU time (goal: under {MAX_MS_PER_HOP:g} ms)")
    measured = measure_concurrency(options.runs, options.hops, options.seconds)
    print(f"one run {measured.single:.2f} s; {options.runs} at once: 95% within {measured.p95:.2f} s, ", end="")
    print(f"{measured.ratio:.2f} times (goal: {MAX_RATIO:g})")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
