"""Measure overload: more starts than the queue has room for, more readers than threads, a flood from one address."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from benchmarks.bench import Line
from benchmarks.load.browser import Browser, Reply, StreamRecord
from benchmarks.load.node import Node, node
from benchmarks.soak_table import MAX_P95_MS, percentile
from tests.faults.servers import until

END_SECONDS = 120.0

BURST = 200
"""Simultaneous starts, each from an address of its own."""

ROOM = {"WORKERS": "4", "MAX_WAITING": "20", "THREADS": "40"}
STREAM_SLOTS = 36
"""Open streams that 40 threads allow."""
READERS = 100
"""Streams of running checks that are opened at once."""

FLOOD = 2000
FLOOD_CONNECTIONS = 50
FLOODER = "127.0.0.66"
MAX_FLOODED_PAGE_MS = 1000.0
"""Limit for other visitors' pages, which queue behind up to 50 requests of the flood."""

OTHERS = 10
"""Other visitors, each with an address of its own."""

DEFAULT_RATE = "20 per minute, 500 per day"
"""The default of RATE_LIMIT."""


def burst(hops: int) -> Iterator[Line]:
    """Start 200 runs at once, where 24 have room; then follow with more readers than stream slots."""
    with node(hops, **ROOM) as here:
        started, streams, pages = asyncio.run(_run_burst(here.port))
        until(lambda: not here.unfinished(), "an end of the runs", END_SECONDS)
        yield from _burst_lines(started, here)
        yield from _reader_lines(streams, pages)


async def _run_burst(port: int) -> tuple[list[Reply], list[StreamRecord], list[Reply]]:
    """Return the replies to the starts, the streams of the accepted runs, and pages read at the same time."""
    browsers = [Browser("127.0.0.1", port, f"127.0.1.{1 + number}") for number in range(BURST)]
    for each in browsers:
        await each.open_home()
    started = await asyncio.gather(*(each.start(f"Claim {n} of a burst.") for n, each in enumerate(browsers)))
    runs = [each.headers["location"].rpartition("/")[2] for each in started if each.status == 303]
    streams = [StreamRecord(runs[number % len(runs)], 0, time.time()) for number in range(READERS)]
    following = [
        asyncio.create_task(Browser("127.0.0.1", port).follow(f"/runs/{each.run_id}/events", each)) for each in streams
    ]
    pages = [await browsers[0].get(path) for path in ("/", "/how-it-works", f"/runs/{runs[-1]}") * 7]
    await asyncio.gather(*following)
    return started, streams, pages


def _burst_lines(started: Sequence[Reply], here: Node) -> Iterator[Line]:
    statuses = Counter(each.status for each in started)
    refused = [each for each in started if each.status in (429, 503)]
    have_time = all(int(each.headers.get("retry-after", "0")) > 0 for each in refused)
    is_met = set(statuses) <= {303, 429, 503} and statuses[303] and refused and have_time
    goal = "303, or 429 or 503 with Retry-After"
    yield Line(f"{BURST} simultaneous starts, room for 24", _listed(statuses), goal, bool(is_met))
    errors = here.without_verdict() + here.error_lines()
    yield Line("afterwards: runs without a verdict, lines of errors", f"{errors}", "none", errors == 0)


def _reader_lines(streams: Sequence[StreamRecord], pages: Sequence[Reply]) -> Iterator[Line]:
    served = sum(each.status == 200 for each in streams)
    what = f"{READERS} readers with {STREAM_SLOTS} stream slots"
    yield Line(what, f"{served} were answered", f"{READERS}", served == READERS)
    yield _page_line("pages at the same time", pages)


def flood(hops: int) -> Iterator[Line]:
    """Send 2,000 requests from one address, half of them starts, while others read and start, with default settings."""
    with node(hops, RATE_LIMIT=DEFAULT_RATE) as here:
        flooded, pages, starts = asyncio.run(_run_flood(here.port))
        statuses = Counter(each.status for each in flooded)
        is_met = set(statuses) <= {200, 303, 429}
        yield Line(f"{FLOOD:,} requests from one address", _listed(statuses), "200, 303 or 429", is_met)
        yield _page_line("others' pages at the same time", pages, MAX_FLOODED_PAGE_MS)
        accepted = sum(each.status == 303 for each in starts)
        result = f"{accepted} of {len(starts)} accepted"
        yield Line("others' starts at the same time", result, "all", accepted == len(starts))


async def _run_flood(port: int) -> tuple[list[Reply], list[Reply], list[Reply]]:
    """Return the replies to the flooder, and the others' pages and starts, one start each."""
    stop = asyncio.Event()
    others = [asyncio.create_task(_other(port, number, stop)) for number in range(OTHERS)]
    flooder = Browser("127.0.0.1", port, FLOODER)
    await flooder.open_home()
    numbers = iter(range(FLOOD))
    replies = await asyncio.gather(*(_flood_connection(flooder, numbers) for _ in range(FLOOD_CONNECTIONS)))
    stop.set()
    pages, starts = zip(*await asyncio.gather(*others), strict=True)
    return list(chain(*replies)), list(chain(*pages)), list(starts)


async def _flood_connection(flooder: Browser, numbers: Iterator[int]) -> list[Reply]:
    """Request pages and start runs in turn."""
    return [await (flooder.start(f"Claim {n} of a flood.") if n % 2 else flooder.get("/")) for n in numbers]


async def _other(port: int, number: int, stop: asyncio.Event) -> tuple[list[Reply], Reply]:
    """Start a run some time after the flood has begun, and read pages until `stop`."""
    browser = Browser("127.0.0.1", port, f"127.0.0.{100 + number}")
    await asyncio.sleep(1 + number / 2)
    pages = [await browser.open_home()]
    start = await browser.start(f"Claim {number} of somebody else.")
    while not stop.is_set():
        pages.append(await browser.get(start.headers.get("location", "/how-it-works")))
        await asyncio.sleep(0.5)
    return pages, start


def _listed(statuses: Counter[int]) -> str:
    return ", ".join(f"{number} times {status}" for status, number in sorted(statuses.items()))


def _page_line(what: str, pages: Sequence[Reply], limit: float = MAX_P95_MS) -> Line:
    failed = sum(each.status != 200 for each in pages)
    p95 = percentile([each.milliseconds for each in pages], 95)
    result = f"95% within {p95:.0f} ms, {failed} of {len(pages)} refused or failed"
    return Line(what, result, f"under {limit:.0f} ms, none", p95 < limit and not failed)
