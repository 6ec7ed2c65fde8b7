"""Compute delays, lost and duplicate events of recorded streams, and the growth of memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.load.browser import StreamRecord

MIN_GROWTH_SECONDS = 480.0
"""Minimum duration for which memory growth is computed."""


def delays(stream: StreamRecord, stored_at: Mapping[int, float]) -> Iterator[float]:
    """Yield the milliseconds from an event's storage, or the later request, to its arrival, for each new event.

    `stored_at` has Unix times by event number. A message covers all events up to its number.
    """
    last = stream.after
    for number, arrived in stream.messages:
        for seq in range(last + 1, number + 1):
            yield 1000 * (arrived - max(stored_at[seq], stream.requested))
        last = max(last, number)


def count_duplicates(stream: StreamRecord) -> int:
    """Return the number of messages without a new event."""
    last, duplicates = stream.after, 0
    for number, _ in stream.messages:
        duplicates += number <= last
        last = max(last, number)
    return duplicates


def count_lost(stream: StreamRecord, last: int, one_by_one: bool) -> int:
    """Return the number of events up to number `last` that a stream which ended did not deliver.

    `one_by_one`: each message is one event; otherwise it covers all events up to its number.
    """
    numbers = {number for number, _ in stream.messages}
    if one_by_one:
        return len(set(range(stream.after + 1, last + 1)) - numbers)
    return last - max(numbers, default=stream.after)


class Sample(NamedTuple):
    """Resident memory at a time since the start of the test."""

    seconds: float
    megabytes: float


def growth(samples: Sequence[Sample]) -> float | None:
    """Return the ratio of the medians of the last and the third tenth of the time; None for a short test."""
    duration = samples[-1].seconds if samples else 0.0
    if duration < MIN_GROWTH_SECONDS:
        return None
    start = [each.megabytes for each in samples if 0.2 * duration <= each.seconds < 0.3 * duration]
    end = [each.megabytes for each in samples if each.seconds >= 0.9 * duration]
    return median(end) / median(start)
