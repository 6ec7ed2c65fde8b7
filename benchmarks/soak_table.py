"""The measurements of a soak test, their bounds (docs/operations.md), and the printed table."""

from __future__ import annotations

import math
import statistics
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

PAGES = ("home", "finished run", "running run", "how it works", "static file")
"""Kinds of requests to which the bounds on time apply; the table has the others too."""

MAX_MEDIAN_MS, MAX_P95_MS = 100.0, 300.0
MAX_MB = 3000.0
MAX_STOP_SECONDS = 10.0
WARM_UP_RUNS = 20
MAX_GROWTH = 1.05
"""Limit of the memory after WARM_UP_RUNS runs of a server process, relative to that at its 20th run."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The server's resident memory after `runs` finished runs of a process (1: before the restart, 2: after)."""

    process: int
    runs: int
    megabytes: float


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A stop by SIGTERM during runs and the following start; times are in seconds."""

    stop_seconds: float
    start_seconds: float
    interrupted_runs: int
    verdicts: int
    """Interrupted runs that reached a verdict."""


@dataclass
class Findings:
    """The measurements, recorded by many threads during the soak."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    runs: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    memory: list[Memory] = field(default_factory=list)
    take_over: TakeOver | None = None
    error_lines: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record_time(self, kind: str, milliseconds: float) -> None:
        """Record a request with the expected response."""
        with self._lock:
            self.times.setdefault(kind, []).append(milliseconds)

    def record_error(self, kind: str, error: str) -> None:
        """Record a request without the expected response."""
        with self._lock:
            self.errors[kind, error] += 1

    def record_run(self, seconds: float) -> None:
        """Record a run that ended `seconds` after its request."""
        with self._lock:
            self.runs.append(seconds)

    def page_times(self) -> list[float]:
        """Return the milliseconds of every page."""
        return [each for kind in PAGES for each in self.times.get(kind, ())]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` of the values do not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def broken_bounds(found: Findings) -> list[str]:
    """Return a sentence for each bound that does not hold."""
    return [*_page_bounds(found), *_memory_bounds(found), *_run_bounds(found)]


def _page_bounds(found: Findings) -> Iterator[str]:
    pages = found.page_times()
    if not pages:
        yield "No page was answered."
        return
    if (median := statistics.median(pages)) > MAX_MEDIAN_MS:
        yield f"The median page took {median:.0f} ms; the bound is {MAX_MEDIAN_MS:.0f}."
    if (p95 := percentile(pages, 95)) > MAX_P95_MS:
        yield f"95% of the pages took up to {p95:.0f} ms; the bound is {MAX_P95_MS:.0f}."
    for (kind, error), times in sorted(found.errors.items()):
        yield f"{kind}: {error}, {times} times."


def _memory_bounds(found: Findings) -> Iterator[str]:
    if (maximum := max((each.megabytes for each in found.memory), default=0.0)) > MAX_MB:
        yield f"The server took {maximum:.0f} MB; the bound is {MAX_MB:.0f}."
    for process in sorted({each.process for each in found.memory}):
        if (growth := growth_after_warm_up(found.memory, process)) is not None and growth > MAX_GROWTH:
            yield f"From run {WARM_UP_RUNS} on, the memory of server process {process} grew by {growth - 1:.1%}."


def growth_after_warm_up(memory: Sequence[Memory], process: int) -> float | None:
    """Return the maximal memory after WARM_UP_RUNS runs relative to that at them; None with too few samples."""
    later = [each.megabytes for each in memory if each.process == process and each.runs >= WARM_UP_RUNS]
    return max(later[1:]) / later[0] if len(later) > 1 else None


def _run_bounds(found: Findings) -> Iterator[str]:
    if not found.runs:
        yield "No run ended."
    for state, times in sorted(found.states.items()):
        if state != "verdict":
            yield f"{times} runs ended as {state!r}."
    if found.error_lines:
        yield f"The log holds {len(found.error_lines)} lines of errors."
    yield from _take_over_bounds(found.take_over) if found.take_over else ()


def _take_over_bounds(over: TakeOver) -> Iterator[str]:
    if over.stop_seconds > MAX_STOP_SECONDS:
        yield f"The server exited {over.stop_seconds:.1f} s after SIGTERM; the bound is {MAX_STOP_SECONDS:.0f}."
    if over.verdicts < over.interrupted_runs:
        yield f"Of {over.interrupted_runs} interrupted runs, {over.verdicts} reached a verdict."


def table(found: Findings) -> str:
    """Return the results in Markdown: times by kind, runs, memory, take-over, errors, broken bounds."""
    return "\n".join([*_times(found), "", *_runs(found), *_memory(found), *_take_over(found), *_end(found)])


def _times(found: Findings) -> Iterator[str]:
    yield "| Request | Number | Median ms | 95% ms | Maximum ms | Errors |"
    yield "|---|---:|---:|---:|---:|---:|"
    kinds = [*PAGES, *sorted({*found.times, *(kind for kind, _ in found.errors)} - {*PAGES})]
    rows = [(kind, found.times.get(kind, []), _errors(found, kind)) for kind in kinds]
    rows.append(("**all pages**", found.page_times(), sum(_errors(found, kind) for kind in PAGES)))
    for name, times, errors in rows:
        if times:
            median, p95 = statistics.median(times), percentile(times, 95)
            yield f"| {name} | {len(times)} | {median:.0f} | {p95:.0f} | {max(times):.0f} | {errors} |"


def _errors(found: Findings, kind: str) -> int:
    return sum(times for (each, _), times in found.errors.items() if each == kind)


def _runs(found: Findings) -> Iterator[str]:
    if found.runs:
        states = ", ".join(f"{number} {state}" for state, number in sorted(found.states.items()))
        median, p95 = statistics.median(found.runs), percentile(found.runs, 95)
        yield f"Measured runs: {len(found.runs)} (all runs of the server: {states})."
        yield f"From request to verdict: median {median:.1f} s, 95% {p95:.1f} s, maximum {max(found.runs):.1f} s."


def _memory(found: Findings) -> Iterator[str]:
    for process in sorted({each.process for each in found.memory}):
        samples = [each for each in found.memory if each.process == process]
        growth = growth_after_warm_up(samples, process)
        change = "too few runs" if growth is None else f"{growth - 1:+.1%}"
        yield ""
        yield (
            f"Resident memory of server process {process} (growth from run {WARM_UP_RUNS} on: {change}): "
            + ", ".join(f"{each.megabytes:.0f} MB at run {each.runs}" for each in samples)
        )


def _take_over(found: Findings) -> Iterator[str]:
    if over := found.take_over:
        yield ""
        yield (
            f"Take-over: exit {over.stop_seconds:.1f} s after SIGTERM, first page {over.start_seconds:.1f} s after the "
            f"start; {over.interrupted_runs} runs were interrupted, {over.verdicts} of them reached a verdict."
        )


def _end(found: Findings) -> Iterator[str]:
    yield ""
    yield f"Lines of errors in the log: {len(found.error_lines)}."
    yield from (f"    {line}" for line in found.error_lines[:10])
    problems = broken_bounds(found)
    yield ""
    yield "Every bound holds." if not problems else "Broken: " + " ".join(problems)
