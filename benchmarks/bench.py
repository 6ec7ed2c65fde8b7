"""One table of ratios, with the machine and the versions: what `make bench` prints, in under five minutes.

    .venv/bin/python -m benchmarks.bench [--skip-models]

Every line comes from a benchmark of its own, in a short form; benchmarks/README.md says how to read them.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from app.domain.errors import HopcheckError
from benchmarks import critical_path, overhead, pages, two_at_once

PACKAGES = ("flask", "sqlalchemy", "torch", "transformers", "xllamacpp", "pyserini")
KEPT_HOPS = 3


class Line(NamedTuple):
    """What was measured, what came out in words, and the goal; `holds` where there is one to hold."""

    what: str
    came_out: str
    goal: str = ""
    holds: bool | None = None


def critical_paths() -> Iterator[Line]:
    """Three kept hops with each answerer: the longest chain of calls, and the time against that without head starts."""
    warm = critical_path.Scripted(0.0, 1)
    critical_path.ran(warm, critical_path.question_guided(warm, critical_path.ReciterReader(warm), True))
    for title, (calls, make) in critical_path.ANSWERERS.items():
        runs = []
        for speculative in (False, True):
            model = critical_path.Scripted(0.3, KEPT_HOPS)
            runs.append(critical_path.ran(model, critical_path.question_guided(model, make(model), speculative)))
        off, on = runs
        most = calls * KEPT_HOPS + 2
        faster = f"{off.seconds / on.seconds:.2f} times faster"
        came_out = f"{on.in_a_row} calls in a row instead of {off.in_a_row}; {faster}"
        yield Line(f"{title}, {KEPT_HOPS} hops", came_out, f"{most} in a row", on.in_a_row <= most)


def own_overhead() -> Iterator[Line]:
    """A hop whose models answer at once, and fifty runs at once."""
    took, worked = overhead.milliseconds_a_hop()
    most = overhead.MOST_MS_A_HOP
    told = f"{took:.1f} ms, {worked:.1f} ms of the processor"
    yield Line("a hop besides its models", told, f"under {most:g} ms", took < most)
    crowd, times = overhead.crowd(), overhead.MOST_TIMES
    told = f"95% within {crowd.ratio:.2f} times a single run ({crowd.single:.2f} s)"
    yield Line("50 runs at once, 300 ms a call", told, f"{times:g} times", crowd.ratio <= times)


def server_time() -> Iterator[Line]:
    """Home and a finished report."""
    with tempfile.TemporaryDirectory() as folder:
        app = pages.application(Path(folder))
        for at in range(pages.RECENT):
            pages.store(app, f"usual-{at}", hops=3, words=60)
        client = app.test_client()
        for what, path in list(pages.pages())[:2]:
            cost = pages.timed(client, path, rounds=15)
            told = f"median {cost.median:.1f} ms, {cost.processor:.1f} ms of the processor"
            yield Line(what, told, "under 100 ms", cost.median < 100)
        app.extensions["hopcheck"].runs.stop()


def two_runs() -> Iterator[Line]:
    """Two runs of the embedded default at once against each alone."""
    ratio = two_at_once.overall(two_at_once.measured(pairs=1))
    most = two_at_once.MOST_TIMES
    yield Line("two runs of the embedded models at once", f"{ratio:.2f} times as long", f"under {most:g}", ratio < most)


SCRIPTED: tuple[Callable[[], Iterator[Line]], ...] = (critical_paths, own_overhead, server_time)
WITH_MODELS: tuple[Callable[[], Iterator[Line]], ...] = (two_runs,)


def lines(measurements: Sequence[Callable[[], Iterator[Line]]]) -> Iterator[Line]:
    """What each comes to; one that cannot be made here says why in its own line."""
    for measure in measurements:
        try:
            yield from measure()
        except HopcheckError as error:
            yield Line(measure.__name__.replace("_", " "), f"not measured: {error}")


def row(line: Line) -> str:
    """A line of the table in Markdown. A goal that is missed is said in words."""
    told = {None: "", True: "holds", False: "MISSED"}[line.holds]
    return f"| {line.what} | {line.came_out} | {line.goal} | {told} |"


def machine(packages: Sequence[str] = PACKAGES) -> str:
    """When, on what, how busy it is, and with which versions."""
    now = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")
    there = {name: installed for name in packages if (installed := _installed(name))}
    versions = ", ".join(f"{name} {number}" for name, number in there.items())
    return (
        f"{now}. {os.cpu_count()} cores of {_processor()}, load {os.getloadavg()[0]:.1f} before it began; "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {versions}; commit {_commit()}."
    )


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in told.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "unknown"


def main() -> None:
    """Print the table, line by line as it comes."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--skip-models", action="store_true", help="only what needs no model, in about a minute")
    began = time.monotonic()
    print(f"{machine()}\n\n| what | came out | goal | |\n|---|---|---|---|", flush=True)
    for line in lines(SCRIPTED if arguments.parse_args().skip_models else SCRIPTED + WITH_MODELS):
        print(row(line), flush=True)
    print(f"\n{time.monotonic() - began:.0f} s in all; load {os.getloadavg()[0]:.1f} at the end.")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
