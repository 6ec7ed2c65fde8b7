"""200 people who follow live runs while others start: pages, delays, events lost or brought twice, memory."""

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
from benchmarks.load.arithmetic import FLAT_SECONDS, MOST_GROWTH, Sample, brought_twice, delays, growth, lost
from benchmarks.load.browsing import Arrivals
from benchmarks.load.node import Node, node
from benchmarks.load.people import COME_SECONDS
from benchmarks.soak_server import ROOT, megabytes
from benchmarks.soak_table import percentile
from tests.faults.servers import until

PEOPLE = 200
COMING = 215
"""So many are there, for one who has just seen a run's end is about to follow another and follows none meanwhile."""

STARTS_A_SECOND = 2.0
SETTINGS = {"THREADS": "270", "WORKERS": "32", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
"""The last as `make run` has it, and no setting of Hopcheck's."""
PAGES_MS, DELAY_MS = 300.0, 500.0
SAMPLE_SECONDS = 5.0
END_SECONDS = 60.0


@dataclass(frozen=True)
class Met:
    """What the crowd met, and what the node was seen to do."""

    pages: Sequence[tuple[str, int, float]]
    following: Sequence[int]
    arrivals: Sequence[Arrivals]
    stored_at: dict[str, dict[int, float]]
    memory: Sequence[Sample]
    unfinished: int
    without_verdict: int
    error_lines: int

    @property
    def ended(self) -> list[Arrivals]:
        """The streams that came to their end."""
        return [each for each in self.arrivals if each.ended]


def followers(seconds: float, hops: int, people: int = COMING) -> Iterator[Line]:
    """One node under the crowd."""
    with node(hops, **SETTINGS) as here:
        met = _met(here, seconds, people)
    yield _there(met)
    yield from _pages(met)
    yield from _events(met)
    yield from _runs(met)
    yield _memory(met)


def _met(here: Node, seconds: float, people: int) -> Met:
    memory: list[Sample] = []
    over = threading.Event()
    watching = threading.Thread(target=_watch, args=(here.server.process.pid, memory, over))
    watching.start()
    try:
        crowd = _crowd(here.port, seconds, people)
    finally:
        over.set()
        watching.join()
    until(lambda: not here.unfinished(), END_SECONDS, "an end of the runs")
    return Met(
        pages=[tuple(each) for each in crowd["pages"]],
        following=crowd["following"],
        arrivals=[Arrivals(**each) for each in crowd["arrivals"]],
        stored_at=here.stored_at(),
        memory=memory,
        unfinished=here.unfinished(),
        without_verdict=here.without_verdict(),
        error_lines=here.error_lines(),
    )


def _crowd(port: int, seconds: float, people: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "crowd.json"
        command = [sys.executable, "-m", "benchmarks.load.people", str(port), "--out", str(out)]
        command += ["--people", str(people), "--starts", str(STARTS_A_SECOND), "--seconds", str(seconds)]
        subprocess.run(command, cwd=ROOT, check=True, timeout=seconds + COME_SECONDS + 120)
        return json.loads(out.read_text(encoding="utf-8"))


def _watch(pid: int, memory: list[Sample], over: threading.Event) -> None:
    began = time.monotonic()
    while not over.wait(SAMPLE_SECONDS):
        memory.append(Sample(time.monotonic() - began, megabytes(pid)))


def _there(met: Met) -> Line:
    usual = median(met.following)
    return Line("people who follow at the same moment", f"median {usual:.0f}", f"{PEOPLE}", usual >= PEOPLE)


def _pages(met: Met) -> Iterator[Line]:
    right = [each for kind, status, each in met.pages if status == _right(kind)]
    told = f"95% within {percentile(right, 95):.0f} ms, median {median(right):.0f} ms ({len(right):,} pages)"
    yield Line("pages", told, f"under {PAGES_MS:.0f} ms", percentile(right, 95) < PAGES_MS)
    wrong = Counter(f"{kind}: {status or 'cut off'}" for kind, status, _ in met.pages if status != _right(kind))
    told = ", ".join(f"{number} times {how}" for how, number in wrong.most_common()) or "0"
    yield Line("pages that were refused or failed", told, "none", not wrong)


def _right(kind: str) -> int:
    return 303 if kind == "start a run" else 200


def _events(met: Met) -> Iterator[Line]:
    late = [late for each in met.arrivals for late in delays(each, met.stored_at[each.run_id])]
    told = f"95% within {percentile(late, 95):.0f} ms, median {median(late):.0f} ms ({len(late):,} events told)"
    yield Line("event's delay, from stored to told", told, f"under {DELAY_MS:.0f} ms", percentile(late, 95) < DELAY_MS)
    gone = sum(lost(each, max(met.stored_at[each.run_id]), each.after == 0) for each in met.ended)
    twice = sum(map(brought_twice, met.arrivals))
    told = f"{gone} and {twice} in {len(met.arrivals):,} streams"
    yield Line("events lost, events brought twice", told, "none", gone == twice == 0)
    cut = len(met.arrivals) - len(met.ended)
    yield Line("streams cut off before their run's end", f"{cut}", "none", cut == 0)


def _runs(met: Met) -> Iterator[Line]:
    told = f"{met.without_verdict} of {len(met.stored_at)}; {met.error_lines} lines of errors in the log"
    yield Line("runs without a verdict", told, "none", met.without_verdict == met.error_lines == 0)


def _memory(met: Met) -> Line:
    grown, most = growth(met.memory), max(each.megabytes for each in met.memory)
    if grown is None:
        return Line("memory", f"{most:.0f} MB at most; not judged under {FLAT_SECONDS / 60:.0f} minutes")
    return Line("memory", f"{most:.0f} MB at most, grew by {grown - 1:+.1%}", "under 5%", grown < MOST_GROWTH)
