"""Print a table of ratios with the machine and the versions, in under five minutes (`make bench`).

    .venv/bin/python -m benchmarks.bench [--skip-models]

Every line is a short form of another benchmark; benchmarks/README.md explains them.
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
from benchmarks import critical_path, overhead, pages, parity, two_at_once

PACKAGES = ("flask", "sqlalchemy", "torch", "transformers", "xllamacpp", "pyserini")
KEPT_HOPS = 3
HEADER = "| what | result | goal | |\n|---|---|---|---|"


class Line(NamedTuple):
    """A line of the table; `is_met` is None without a goal."""

    what: str
    result: str
    goal: str = ""
    is_met: bool | None = None


def critical_paths() -> Iterator[Line]:
    """Measure three kept hops with each answerer: calls in a row, and the speedup by speculative calls."""
    warm = critical_path.Scripted(0.0, 1)
    critical_path.measure_run(warm, critical_path.question_guided(warm, critical_path.ReciterReader(warm), True))
    for title, (calls, make) in critical_path.ANSWERERS.items():
        runs = []
        for speculative in (False, True):
            model = critical_path.Scripted(0.3, KEPT_HOPS)
            runs.append(
                critical_path.measure_run(model, critical_path.question_guided(model, make(model), speculative))
            )
        off, on = runs
        limit = calls * KEPT_HOPS + 2
        speedup = f"{off.seconds / on.seconds:.2f} times faster"
        result = f"{on.calls_in_a_row} calls in a row instead of {off.calls_in_a_row}; {speedup}"
        yield Line(f"{title}, {KEPT_HOPS} hops", result, f"{limit} in a row", on.calls_in_a_row <= limit)


def own_overhead() -> Iterator[Line]:
    """Measure a hop whose models answer instantly, and fifty concurrent runs."""
    wall, cpu = overhead.milliseconds_per_hop()
    limit = overhead.MAX_MS_PER_HOP
    yield Line(
        "a hop besides its models", f"{wall:.1f} ms, {cpu:.1f} ms of CPU time", f"under {limit:g} ms", wall < limit
    )
    runs, limit = overhead.measure_concurrency(), overhead.MAX_RATIO
    result = f"95% within {runs.ratio:.2f} times a single run ({runs.single:.2f} s)"
    yield Line("50 runs at once, 300 ms a call", result, f"{limit:g} times", runs.ratio <= limit)


def server_time() -> Iterator[Line]:
    """Measure the home page and a finished report."""
    with tempfile.TemporaryDirectory() as folder:
        app = pages.application(Path(folder))
        for at in range(pages.RECENT):
            pages.store_run(app, f"usual-{at}", hops=3, words=60)
        client = app.test_client()
        for what, path in list(pages.pages())[:2]:
            cost = pages.measure(client, path, rounds=15)
            result = f"median {cost.median:.1f} ms, {cost.cpu:.1f} ms of CPU time"
            yield Line(what, result, "under 100 ms", cost.median < 100)
        app.extensions["hopcheck"].runs.stop()


def two_runs() -> Iterator[Line]:
    """Measure two runs of the embedded default at once and alone."""
    ratio, limit = two_at_once.overall_ratio(two_at_once.measure(pairs=1)), two_at_once.MAX_RATIO
    yield Line(
        "two runs of the embedded models at once", f"{ratio:.2f} times as long", f"under {limit:g}", ratio < limit
    )


def parity_with_qacheck() -> Iterator[Line]:
    """QACheck's calls and ours from the same scripted server, for one to five hops."""
    comparisons = []
    for each in parity.measure():
        comparisons.append(each)
        theirs, ours = each.qacheck, each.local_reader
        figures = f"{ours.calls} calls in {ours.seconds:.1f} s; QACheck's {theirs.calls} in {theirs.seconds:.1f} s"
        yield Line(f"reciter-reader over HTTP, {each.hops} hops", f"{figures}: {ours.seconds / theirs.seconds:.2f}")
    local = parity.time_share(comparisons, lambda one: one.local_reader)
    model = parity.time_share(comparisons, lambda one: one.model_reader)
    limit = parity.MAX_TIME_SHARE
    yield Line(
        "the same, one to five hops together", f"{local:.2f} of QACheck's time", f"at most {limit}", local <= limit
    )
    yield Line("the same, read by the model", f"{model:.2f} of QACheck's time")


SCRIPTED: tuple[Callable[[], Iterator[Line]], ...] = (critical_paths, own_overhead, server_time)
WITH_MODELS: tuple[Callable[[], Iterator[Line]], ...] = (parity_with_qacheck, two_runs)


def lines(measurements: Sequence[Callable[[], Iterator[Line]]]) -> Iterator[Line]:
    """Yield the lines of each measurement, or the reason why it failed."""
    for measure in measurements:
        try:
            yield from measure()
        except HopcheckError as error:
            yield Line(measure.__name__.replace("_", " "), f"not measured: {error}")


def table_row(line: Line) -> str:
    """Return the line in Markdown."""
    outcome = {None: "", True: "met", False: "MISSED"}[line.is_met]
    return f"| {line.what} | {line.result} | {line.goal} | {outcome} |"


def describe_machine(packages: Sequence[str] = PACKAGES) -> str:
    """Return the time, the processor, the load and the versions."""
    now = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")
    installed_versions = {name: installed for name in packages if (installed := _installed(name))}
    versions = ", ".join(f"{name} {number}" for name, number in installed_versions.items())
    return (
        f"{now}. {os.cpu_count()} cores of {_processor()}, load {os.getloadavg()[0]:.1f} before; "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {versions}; commit {_commit()}."
    )


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main() -> None:
    """Print the table line by line."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument(
        "--skip-models", action="store_true", help="only measurements without models, in about a minute"
    )
    started = time.monotonic()
    print(f"{describe_machine()}\n\n{HEADER}", flush=True)
    for line in lines(SCRIPTED if arguments.parse_args().skip_models else SCRIPTED + WITH_MODELS):
        print(table_row(line), flush=True)
    print(f"\n{time.monotonic() - started:.0f} s in all; load {os.getloadavg()[0]:.1f} at the end.")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
