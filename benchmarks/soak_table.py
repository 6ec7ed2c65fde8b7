"""What a soak found: every request and every run, what the bounds say about them, and the table for docs/soak.md."""

from __future__ import annotations

import math
import statistics
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

PAGES = ("home", "finished run", "running run", "how it works", "static file")
"""The kinds of request that the bounds on time are for; the others are in the table all the same."""

MEDIAN_MS, P95_MS = 100.0, 300.0
MOST_MB = 3000.0
LEAVE_SECONDS = 10.0
FLAT_FROM, MOST_GROWTH = 20, 1.05
"""Memory is flat when, from the 20th run of a server's life on, it never grows by more than 5%."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The server's resident memory after `runs` finished runs of its `life` (1: before the take-over, 2: after)."""

    life: int
    runs: int
    megabytes: float


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A stop by SIGTERM in the middle of runs and the start after it, in seconds, and what became of those runs."""

    left_after: float
    serving_after: float
    going_on: int
    ended_with_verdict: int


@dataclass
class Findings:
    """Filled by many threads while the soak goes on, read when it is over."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    runs: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    memory: list[Memory] = field(default_factory=list)
    take_over: TakeOver | None = None
    error_lines: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, kind: str, milliseconds: float) -> None:
        """A request of that kind was answered as it should be."""
        with self._lock:
            self.times.setdefault(kind, []).append(milliseconds)

    def went_wrong(self, kind: str, how: str) -> None:
        """A request of that kind got something else than it should have."""
        with self._lock:
            self.errors[kind, how] += 1

    def run_ended(self, seconds: float) -> int:
        """A run ended that long after it was asked for; how many have."""
        with self._lock:
            self.runs.append(seconds)
            return len(self.runs)

    def page_times(self) -> list[float]:
        """Milliseconds of every page."""
        return [each for kind in PAGES for each in self.times.get(kind, ())]


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` of the values do not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def broken(found: Findings) -> list[str]:
    """The bounds that do not hold, one sentence each."""
    return [*_broken_by_pages(found), *_broken_by_memory(found), *_broken_by_runs(found)]


def _broken_by_pages(found: Findings) -> Iterator[str]:
    pages = found.page_times()
    if not pages:
        yield "No page was answered."
        return
    if (median := statistics.median(pages)) > MEDIAN_MS:
        yield f"The median page took {median:.0f} ms; the bound is {MEDIAN_MS:.0f}."
    if (p95 := percentile(pages, 95)) > P95_MS:
        yield f"95% of the pages took up to {p95:.0f} ms; the bound is {P95_MS:.0f}."
    for (kind, how), times in sorted(found.errors.items()):
        yield f"{kind}: {how}, {times} times."


def _broken_by_memory(found: Findings) -> Iterator[str]:
    if (most := max((each.megabytes for each in found.memory), default=0.0)) > MOST_MB:
        yield f"The server took {most:.0f} MB; the bound is {MOST_MB:.0f}."
    for life in sorted({each.life for each in found.memory}):
        if (growth := growth_from_the_20th(found.memory, life)) is not None and growth > MOST_GROWTH:
            yield f"From run {FLAT_FROM} on, the server's memory grew by {growth - 1:.1%} (life {life})."


def growth_from_the_20th(memory: Sequence[Memory], life: int) -> float | None:
    """Most memory after the 20th run of that life, over memory at it; None when the life was too short to say."""
    later = [each.megabytes for each in memory if each.life == life and each.runs >= FLAT_FROM]
    return max(later[1:]) / later[0] if len(later) > 1 else None


def _broken_by_runs(found: Findings) -> Iterator[str]:
    if not found.runs:
        yield "No run ended."
    for state, times in sorted(found.states.items()):
        if state != "verdict":
            yield f"{times} runs ended as {state!r}."
    if found.error_lines:
        yield f"The log holds {len(found.error_lines)} lines of errors."
    yield from _broken_by_take_over(found.take_over) if found.take_over else ()


def _broken_by_take_over(over: TakeOver) -> Iterator[str]:
    if over.left_after > LEAVE_SECONDS:
        yield f"The server left {over.left_after:.1f} s after SIGTERM; the bound is {LEAVE_SECONDS:.0f}."
    if over.ended_with_verdict < over.going_on:
        yield f"Of {over.going_on} runs that were cut off, {over.ended_with_verdict} came to a verdict."


def table(found: Findings) -> str:
    """Markdown: times by kind, runs, memory, take-over, errors, and whether the bounds hold."""
    return "\n".join([*_times(found), "", *_runs(found), *_memory(found), *_taken_over(found), *_end(found)])


def _times(found: Findings) -> Iterator[str]:
    yield "| Request | Number | Median ms | 95% ms | Most ms | Errors |"
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
        yield f"Runs that ended: {len(found.runs)} (with the first and the last: {states})."
        yield f"From asked to ended: median {median:.1f} s, 95% {p95:.1f} s, most {max(found.runs):.1f} s."


def _memory(found: Findings) -> Iterator[str]:
    for life in sorted({each.life for each in found.memory}):
        samples = [each for each in found.memory if each.life == life]
        growth = growth_from_the_20th(samples, life)
        told = (
            "too few runs to say whether it is flat" if growth is None else f"growth from run 20 on {growth - 1:+.1%}"
        )
        yield ""
        yield f"Resident memory, life {life} of the server ({told}): " + ", ".join(
            f"{each.megabytes:.0f} MB at run {each.runs}" for each in samples
        )


def _taken_over(found: Findings) -> Iterator[str]:
    if over := found.take_over:
        yield ""
        yield (
            f"Take-over: left {over.left_after:.1f} s after SIGTERM, served pages {over.serving_after:.1f} s after its "
            f"start; {over.going_on} runs were cut off, {over.ended_with_verdict} of them came to a verdict."
        )


def _end(found: Findings) -> Iterator[str]:
    yield ""
    yield f"Lines of errors in the log: {len(found.error_lines)}."
    yield from (f"    {line}" for line in found.error_lines[:10])
    problems = broken(found)
    yield ""
    yield "Every bound holds." if not problems else "Broken: " + " ".join(problems)
