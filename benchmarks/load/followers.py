"""Measure a server with 200 followers of running checks: pages, delays, lost and duplicate events, memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bench import Line
from benchmarks.load.browser import StreamRecord
from benchmarks.load.crowd import ARRIVAL_SECONDS
from benchmarks.load.node import Node, node
from benchmarks.load.stream_metrics import (
    MIN_GROWTH_SECONDS,
    Sample,
    count_duplicates,
    count_lost,
    delays,
    growth,
)
from benchmarks.soak_server import ROOT, megabytes
from benchmarks.soak_table import MAX_GROWTH, MAX_P95_MS, percentile
from tests.faults.servers import until

MIN_FOLLOWERS = 200
PEOPLE = 215
"""More than MIN_FOLLOWERS, since a person between two runs follows none."""

STARTS_PER_SECOND = 2.0
SETTINGS = {"THREADS": "270", "WORKERS": "32", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
"""GLIBC_TUNABLES as in `make run`."""
MAX_DELAY_MS = 500.0
SAMPLE_SECONDS = 5.0
END_SECONDS = 60.0


@dataclass(frozen=True)
class Measurements:
    """What the visitors and the server recorded."""

    pages: Sequence[tuple[str, int, float]]
    """(kind, status, milliseconds) of each page."""
    following: Sequence[int]
    """Number of followers in each second."""
    streams: Sequence[StreamRecord]
    stored_at: dict[str, dict[int, float]]
    memory: Sequence[Sample]
    unfinished: int
    without_verdict: int
    error_lines: int

    @property
    def ended(self) -> list[StreamRecord]:
        """Return the streams that ended with their runs."""
        return [each for each in self.streams if each.ended]


def followers(seconds: float, hops: int, people: int = PEOPLE) -> Iterator[Line]:
    """Measure one node for `seconds` with `people` visitors."""
    with node(hops, **SETTINGS) as here:
        met = _measure(here, seconds, people)
    yield _followers(met)
    yield from _pages(met)
    yield from _events(met)
    yield from _runs(met)
    yield _memory(met)


def _measure(here: Node, seconds: float, people: int) -> Measurements:
    memory: list[Sample] = []
    stop = threading.Event()
    sampler = threading.Thread(target=_sample_memory, args=(here.server.process.pid, memory, stop))
    sampler.start()
    try:
        crowd = _run_crowd(here.port, seconds, people)
    finally:
        stop.set()
        sampler.join()
    until(lambda: not here.unfinished(), "an end of the runs", END_SECONDS)
    return Measurements(
        pages=[tuple(each) for each in crowd["pages"]],
        following=crowd["following"],
        streams=[StreamRecord(**each) for each in crowd["streams"]],
        stored_at=here.stored_at(),
        memory=memory,
        unfinished=here.unfinished(),
        without_verdict=here.without_verdict(),
        error_lines=here.error_lines(),
    )


def _run_crowd(port: int, seconds: float, people: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "crowd.json"
        command = [sys.executable, "-m", "benchmarks.load.crowd", str(port), "--out", str(out)]
        command += ["--people", str(people), "--starts", str(STARTS_PER_SECOND), "--seconds", str(seconds)]
        subprocess.run(command, cwd=ROOT, check=True, timeout=seconds + ARRIVAL_SECONDS + 120)
        return json.loads(out.read_text(encoding="utf-8"))


def _sample_memory(pid: int, memory: list[Sample], stop: threading.Event) -> None:
    started = time.monotonic()
    while not stop.wait(SAMPLE_SECONDS):
        memory.append(Sample(time.monotonic() - started, megabytes(pid)))


def _followers(met: Measurements) -> Line:
    count = median(met.following)
    return Line("concurrent followers", f"median {count:.0f}", f"{MIN_FOLLOWERS}", count >= MIN_FOLLOWERS)


def _pages(met: Measurements) -> Iterator[Line]:
    times = [each for kind, status, each in met.pages if status == _expected_status(kind)]
    p95 = percentile(times, 95)
    result = f"95% within {p95:.0f} ms, median {median(times):.0f} ms ({len(times):,} pages)"
    yield Line("pages", result, f"under {MAX_P95_MS:.0f} ms", p95 < MAX_P95_MS)
    failed = Counter(
        f"{kind}: {status or 'closed'}" for kind, status, _ in met.pages if status != _expected_status(kind)
    )
    result = ", ".join(f"{number} times {what}" for what, number in failed.most_common()) or "0"
    yield Line("pages that were refused or failed", result, "none", not failed)


def _expected_status(kind: str) -> int:
    return 303 if kind == "start a run" else 200


def _events(met: Measurements) -> Iterator[Line]:
    times = [delay for each in met.streams for delay in delays(each, met.stored_at[each.run_id])]
    p95 = percentile(times, 95)
    result = f"95% within {p95:.0f} ms, median {median(times):.0f} ms ({len(times):,} events)"
    yield Line("delay from storing to receiving an event", result, f"under {MAX_DELAY_MS:.0f} ms", p95 < MAX_DELAY_MS)
    lost = sum(count_lost(each, max(met.stored_at[each.run_id]), each.after == 0) for each in met.ended)
    duplicates = sum(map(count_duplicates, met.streams))
    result = f"{lost} and {duplicates} in {len(met.streams):,} streams"
    yield Line("lost events, duplicate events", result, "none", lost == duplicates == 0)
    closed = len(met.streams) - len(met.ended)
    yield Line("streams closed before their run's end", f"{closed}", "none", closed == 0)


def _runs(met: Measurements) -> Iterator[Line]:
    result = f"{met.without_verdict} of {len(met.stored_at)}; {met.error_lines} lines of errors in the log"
    yield Line("runs without a verdict", result, "none", met.without_verdict == met.error_lines == 0)


def _memory(met: Measurements) -> Line:
    ratio, maximum = growth(met.memory), max(each.megabytes for each in met.memory)
    if ratio is None:
        return Line("memory", f"at most {maximum:.0f} MB; growth needs {MIN_GROWTH_SECONDS / 60:.0f} minutes")
    return Line("memory", f"at most {maximum:.0f} MB, growth {ratio - 1:+.1%}", "under 5%", ratio < MAX_GROWTH)
