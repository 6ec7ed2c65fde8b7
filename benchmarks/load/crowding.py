"""Too much at once: more starts than there is room for, more readers than seats, and one address that asks for all."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from benchmarks.bench import Line
from benchmarks.load.browsing import Arrivals, Browser, Reply
from benchmarks.load.node import Node, node
from benchmarks.soak_table import percentile
from tests.faults.servers import until

PAGES_MS = 300.0
END_SECONDS = 120.0

BURST = 200
"""Each from an address of its own."""

ROOM = {"WORKERS": "4", "MAX_WAITING": "20", "THREADS": "40"}
SEATS = 36
READERS = 100
"""Streams that are opened at once, of runs that go on; there are 36 seats for them."""

FLOOD = 2000
AT_ONCE = 50
FLOODER = "127.0.0.66"
FLOODED_MS = 1000.0
"""Others are served if a page comes within a second: each stands behind up to 50 requests of the flood."""

OTHERS = 10
"""Visitors with an address each."""

USUAL_RATE = "20 per minute, 500 per day"
"""What RATE_LIMIT is when nobody sets it."""


def burst(hops: int) -> Iterator[Line]:
    """200 starts in one moment, where 24 have room; then more readers than seats."""
    with node(hops, **ROOM) as here:
        started, streams, pages = asyncio.run(_crowded(here.port))
        until(lambda: not here.unfinished(), END_SECONDS, "an end of the runs")
        yield from _burst(started, here)
        yield from _readers(streams, pages)


async def _crowded(port: int) -> tuple[list[Reply], list[Arrivals], list[Reply]]:
    """What came of the starts, of the streams of those that got in, and of pages that were read meanwhile."""
    browsers = [Browser("127.0.0.1", port, f"127.0.1.{1 + number}") for number in range(BURST)]
    for each in browsers:
        await each.come()
    started = await asyncio.gather(*(each.start(f"Claim {n} of a burst.") for n, each in enumerate(browsers)))
    runs = [each.headers["location"].rpartition("/")[2] for each in started if each.status == 303]
    streams = [Arrivals(runs[number % len(runs)], 0, time.time()) for number in range(READERS)]
    following = [
        asyncio.create_task(Browser("127.0.0.1", port).follow(f"/runs/{each.run_id}/events", each)) for each in streams
    ]
    pages = [await browsers[0].get(path) for path in ("/", "/how-it-works", f"/runs/{runs[-1]}") * 7]
    await asyncio.gather(*following)
    return started, streams, pages


def _burst(started: Sequence[Reply], here: Node) -> Iterator[Line]:
    met = Counter(each.status for each in started)
    told = ", ".join(f"{number} times {status}" for status, number in sorted(met.items()))
    refused = [each for each in started if each.status in (429, 503)]
    when = all(int(each.headers.get("retry-after", "0")) > 0 for each in refused)
    good = set(met) <= {303, 429, 503} and met[303] and refused and when
    yield Line(f"{BURST} starts in one moment, room for 24", told, "303, or 429 or 503 with a time", bool(good))
    broken = here.without_verdict() + here.error_lines()
    yield Line("then: runs without a verdict, lines of errors", f"{broken}", "none", broken == 0)


def _readers(streams: Sequence[Arrivals], pages: Sequence[Reply]) -> Iterator[Line]:
    served = sum(each.status == 200 for each in streams)
    yield Line(f"{READERS} readers on {SEATS} seats", f"{served} were answered", f"{READERS}", served == READERS)
    yield _of_pages("pages beside them", pages)


def flood(hops: int) -> Iterator[Line]:
    """2,000 requests from one address, half of them starts, while others read and start; every setting as it comes."""
    with node(hops, RATE_LIMIT=USUAL_RATE) as here:
        flooded, pages, starts = asyncio.run(_flooded(here.port))
        met = Counter(each.status for each in flooded)
        told = ", ".join(f"{number} times {status}" for status, number in sorted(met.items()))
        yield Line(f"{FLOOD:,} requests from one address", told, "200, 303 or 429", set(met) <= {200, 303, 429})
        yield _of_pages("others' pages meanwhile", pages, FLOODED_MS)
        served = sum(each.status == 303 for each in starts)
        yield Line("others' starts meanwhile", f"{served} of {len(starts)} got in", "all", served == len(starts))


async def _flooded(port: int) -> tuple[list[Reply], list[Reply], list[Reply]]:
    """What the flooder got, the others' pages, and their starts, one each."""
    over = asyncio.Event()
    others = [asyncio.create_task(_other(port, number, over)) for number in range(OTHERS)]
    flooder = Browser("127.0.0.1", port, FLOODER)
    await flooder.come()
    left = iter(range(FLOOD))
    got = await asyncio.gather(*(_ask_on(flooder, left) for _ in range(AT_ONCE)))
    over.set()
    found = await asyncio.gather(*others)
    pages, starts = zip(*found, strict=True)
    return list(chain(*got)), list(chain(*pages)), list(starts)


async def _ask_on(flooder: Browser, left: Iterator[int]) -> list[Reply]:
    """One of the flooder's connections: a start, a page, a start."""
    return [await (flooder.start(f"Claim {n} of a flood.") if n % 2 else flooder.get("/")) for n in left]


async def _other(port: int, number: int, over: asyncio.Event) -> tuple[list[Reply], Reply]:
    """Somebody else comes a while after the flood has begun, starts one run, and reads pages until it is over."""
    browser = Browser("127.0.0.1", port, f"127.0.0.{100 + number}")
    await asyncio.sleep(1 + number / 2)
    pages = [await browser.come()]
    start = await browser.start(f"Claim {number} of somebody else.")
    while not over.is_set():
        pages.append(await browser.get(start.headers.get("location", "/how-it-works")))
        await asyncio.sleep(0.5)
    return pages, start


def _of_pages(what: str, pages: Sequence[Reply], most: float = PAGES_MS) -> Line:
    wrong = sum(each.status != 200 for each in pages)
    late = percentile([each.milliseconds for each in pages], 95)
    told = f"95% within {late:.0f} ms, {wrong} of {len(pages)} refused or failed"
    return Line(what, told, f"under {most:.0f} ms, none", late < most and not wrong)
