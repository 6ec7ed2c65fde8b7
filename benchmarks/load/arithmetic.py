"""What is made of the times that were noted: delays, events lost and brought twice, and whether memory is flat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.load.browsing import Arrivals

MOST_GROWTH = 1.05
FLAT_SECONDS = 480.0
"""Shorter than this says nothing about whether memory is flat."""


def delays(arrivals: Arrivals, stored_at: Mapping[int, float]) -> Iterator[float]:
    """Milliseconds from when an event was stored to when its reader had it, of each that the stream had to bring.

    `stored_at` is by the event's number. A message tells all events up to its own number. What was stored before the
    reader asked counts from the asking.
    """
    told = arrivals.after
    for number, came in arrivals.messages:
        for seq in range(told + 1, number + 1):
            yield 1000 * (came - max(stored_at[seq], arrivals.asked))
        told = max(told, number)


def brought_twice(arrivals: Arrivals) -> int:
    """How many messages told nothing that had not been told before."""
    told, twice = arrivals.after, 0
    for number, _ in arrivals.messages:
        twice += number <= told
        told = max(told, number)
    return twice


def lost(arrivals: Arrivals, last: int, one_by_one: bool) -> int:
    """How many of the events up to number `last` a stream that came to its end did not bring.

    `one_by_one`: each message is one event. Else it tells all up to its number, and only the end can be missing.
    """
    numbers = {number for number, _ in arrivals.messages}
    if one_by_one:
        return len(set(range(arrivals.after + 1, last + 1)) - numbers)
    return last - max(numbers, default=arrivals.after)


class Sample(NamedTuple):
    """Megabytes of resident memory, so many seconds after the beginning."""

    seconds: float
    megabytes: float


def growth(samples: Sequence[Sample]) -> float | None:
    """The last tenth of the time over its third tenth, medians; None where it was too short to say."""
    whole = samples[-1].seconds if samples else 0.0
    if whole < FLAT_SECONDS:
        return None
    before = [each.megabytes for each in samples if 0.2 * whole <= each.seconds < 0.3 * whole]
    after = [each.megabytes for each in samples if each.seconds >= 0.9 * whole]
    return median(after) / median(before)
