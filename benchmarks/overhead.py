"""What Hopcheck itself takes: a hop whose models answer at once, and fifty runs at once with 300 ms a model call.

    .venv/bin/python -m benchmarks.overhead [--runs 50] [--hops 3] [--seconds 0.3]

The application runs in this process as a server has it: SQLite in a file, the job threads, the call log, and
one reader a run who follows its stream of drawn cards. The modules are the prompted ones with their real prompts over
a scripted language model; only the network is missing. A run is timed from its start to the last message of its stream.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
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
from benchmarks.critical_path import CLAIM, AtOnce, Scripted, question_guided

MOST_MS_A_HOP = 10.0
MOST_TIMES = 2.0
OWNER = "somebody"


class ScriptedContainer(Container):
    """Runs of `hops` kept hops with a model of its own each, whose every call takes `seconds`."""

    def __init__(self, settings: Settings, hops: int, seconds: float) -> None:
        super().__init__(settings)
        self.hops, self.seconds = hops, seconds

    def strategy_for(self, options: RunOptions) -> Strategy:
        return question_guided(Scripted(self.seconds, self.hops), AtOnce(), speculative=True)


class Timed(NamedTuple):
    """One run as its reader saw it, and the messages that its stream brought."""

    seconds: float
    messages: int


@contextmanager
def application(hops: int, seconds: float, workers: int) -> Iterator[Flask]:
    """The application over a fresh database: `workers` runs at once, and a seat for each reader."""
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


def followed(app: Flask, number: int) -> Timed:
    """Start a run of a claim of its own, for the cache to know nothing of it, and follow it to its end."""
    runs = app.extensions["hopcheck"].runs
    began = time.perf_counter()
    run_id = runs.start(Claim(f"{CLAIM.text} ({number})"), RunOptions(max_hops=10), OWNER)
    reply = app.test_client().get(f"/runs/{run_id}/events", buffered=False)
    messages = sum(b"event: update" in message for message in reply.response)
    took = time.perf_counter() - began
    (*_, last) = runs.follow(run_id, 0, 0.0)
    if not isinstance(last.event, VerdictReached):
        raise SystemExit(f"a run ended with {last.event}")
    return Timed(took, messages)


def side_by_side(app: Flask, count: int) -> list[Timed]:
    """So many runs begun at the same moment."""
    timed: list[Timed] = []
    together = threading.Barrier(count)

    def one(number: int) -> None:
        together.wait()
        timed.append(followed(app, number))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(timed) < count:
        raise SystemExit("a run could not be started")
    return timed


def milliseconds_a_hop(hops: int = 5, rounds: int = 15) -> tuple[float, float]:
    """Median milliseconds for each hop of a run whose models answer at once, and of the processor's time for it."""
    with application(hops, seconds=0.0, workers=1) as app:
        followed(app, -1)  # templates, statements and prompts are prepared by the first
        took, worked = [], []
        for number in range(rounds):
            began = time.process_time()
            took.append(followed(app, number).seconds)
            worked.append(time.process_time() - began)
    return 1000 * statistics.median(took) / hops, 1000 * statistics.median(worked) / hops


class Crowd(NamedTuple):
    """Seconds: the median of a single run, and the 95th percentile of those that go on at once."""

    single: float
    late: float

    @property
    def ratio(self) -> float:
        return self.late / self.single


def crowd(count: int = 50, hops: int = 3, seconds: float = 0.3) -> Crowd:
    """So many runs at once against one alone."""
    with application(hops, seconds, workers=count) as app:
        single = statistics.median(followed(app, -1 - number).seconds for number in range(3))
        many = [each.seconds for each in side_by_side(app, count)]
    return Crowd(single, percentile(many, 95))


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many percent do not exceed."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * percent // 100) - 1]


def main() -> None:
    """Print both."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--runs", type=int, default=50)
    arguments.add_argument("--hops", type=int, default=3)
    arguments.add_argument("--seconds", type=float, default=0.3, help="what one call takes")
    options = arguments.parse_args()
    took, worked = milliseconds_a_hop()
    print(f"{took:.1f} ms a hop, {worked:.1f} ms of the processor (goal: under {MOST_MS_A_HOP:g} ms)")
    measured = crowd(options.runs, options.hops, options.seconds)
    print(f"one run {measured.single:.2f} s; {options.runs} at once: 95% within {measured.late:.2f} s, ", end="")
    print(f"{measured.ratio:.2f} times (goal: {MOST_TIMES:g})")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
