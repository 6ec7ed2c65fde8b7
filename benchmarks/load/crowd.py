"""Simulate a crowd in a process of its own: followers of running checks, people who start checks, and page readers.

    .venv/bin/python -m benchmarks.load.crowd PORT --people 215 --starts 2 --seconds 60 --out crowd.json

Nine of ten followers read the stream of a new run's page as a browser does, and then that of another run. One of ten
reads the stream of the API, where every event is a message. People arrive one after the other; only requests made after
all have arrived are measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Coroutine
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.load.browser import Browser, Reply, StreamRecord

ARRIVAL_SECONDS = 12.0
"""Time until all people have arrived."""

END_SECONDS = 30.0
"""Time limit for unfinished requests at the end; streams that are still open then count as closed early."""

PROGRAM_INTERVAL = 10
"""Every tenth follower is a program."""

PAGE_EVENT = 2
"""Number of the last event that the page of a queued run already shows."""

READERS = 12
PAGES = ("/", "/how-it-works", "/static/style.css", "finished run", *["running run"] * 3)
THINK_SECONDS = (0.2, 1.2)
"""Pause of a reader between two pages."""

NEWEST_RUNS = 4
"""People follow one of this many newest runs."""

PAUSE_SECONDS = (0.05, 0.3)
"""Pause of a follower between two runs."""


@dataclass
class Crowd:
    """The simulated people, the runs that they know, and the measurements."""

    port: int
    seconds: float
    people: int
    starts: float
    """Runs started per second."""
    pages: list[tuple[str, int, float]] = field(default_factory=list)
    """(kind, status, milliseconds) of each page."""
    streams: list[StreamRecord] = field(default_factory=list)
    following: list[int] = field(default_factory=list)
    """Number of open streams in each second."""
    _live: dict[str, None] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _open_streams: int = 0
    _is_measuring: bool = False
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Let all people arrive, measure for `seconds`, and wait for unfinished requests."""
        tasks = [asyncio.create_task(each) for each in self._coroutines()]
        await asyncio.sleep(ARRIVAL_SECONDS)
        self._is_measuring = True
        for _ in range(int(self.seconds)):
            await asyncio.sleep(1)
            self.following.append(self._open_streams)
        self._stop.set()
        _, late = await asyncio.wait(tasks, timeout=END_SECONDS)
        for each in late:
            each.cancel()

    def _coroutines(self) -> list[Coroutine[Any, Any, None]]:
        people = [self._follower(number, ARRIVAL_SECONDS * number / self.people) for number in range(self.people)]
        return [self._start_runs(), *people, *(self._reader(number) for number in range(READERS))]

    async def _start_runs(self) -> None:
        """Start runs at a fixed rate, without waiting for responses."""
        tasks, started, number = [], time.monotonic(), 0
        while not self._stop.is_set():
            tasks.append(asyncio.create_task(self._start(number)))
            number += 1
            await asyncio.sleep(max(0.0, started + number / self.starts - time.monotonic()))
        await asyncio.gather(*tasks)

    async def _start(self, number: int) -> None:
        # Each visitor has an address, since the number of runs per address is limited.
        browser = Browser("127.0.0.1", self.port, f"127.0.2.{1 + number % 250}")
        self._record_page("home", await browser.open_home())
        started = await browser.start(f"The old harbour's pier number {number} was built before the war.")
        self._record_page("start a run", started)
        if started.status == 303:
            self._live[started.headers["location"].rpartition("/")[2]] = None

    async def _follower(self, number: int, arrives_after: float) -> None:
        await asyncio.sleep(arrives_after)
        browser, choice = Browser("127.0.0.1", self.port), random.Random(number)
        while not self._stop.is_set():
            if self._live:
                run_id = choice.choice(list(self._live)[-NEWEST_RUNS:])
                await self._follow(browser, run_id, as_program=number % PROGRAM_INTERVAL == 0)
            await asyncio.sleep(choice.uniform(*PAUSE_SECONDS))

    async def _follow(self, browser: Browser, run_id: str, as_program: bool) -> None:
        after = 0 if as_program else PAGE_EVENT
        path = f"/api/v1/runs/{run_id}/events" if as_program else f"/runs/{run_id}/events?after={after}"
        stream = StreamRecord(run_id, after, time.time())
        if self._is_measuring:
            self.streams.append(stream)
        self._open_streams += 1
        await browser.follow(path, stream)
        self._open_streams -= 1
        if stream.ended and run_id in self._live:
            del self._live[run_id]
            self._ended.append(run_id)

    async def _reader(self, number: int) -> None:
        browser, choice = Browser("127.0.0.1", self.port), random.Random(-number)
        while not self._stop.is_set():
            await asyncio.sleep(choice.uniform(*THINK_SECONDS))
            page = choice.choice(PAGES)
            runs = {"running run": list(self._live), "finished run": self._ended}.get(page)
            if runs is None:
                self._record_page(page, await browser.get(page))
            elif runs:
                self._record_page(page, await browser.get(f"/runs/{choice.choice(runs)}"))

    def _record_page(self, kind: str, reply: Reply) -> None:
        if self._is_measuring:
            self.pages.append((kind, reply.status, reply.milliseconds))


def main() -> None:
    """Run the crowd and write its measurements."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("port", type=int)
    arguments.add_argument("--people", type=int, required=True)
    arguments.add_argument("--starts", type=float, required=True, help="runs started per second")
    arguments.add_argument("--seconds", type=float, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    crowd = Crowd(given.port, given.seconds, given.people, given.starts)
    asyncio.run(crowd.run())
    measured = {"pages": crowd.pages, "following": crowd.following, "streams": [asdict(each) for each in crowd.streams]}
    given.out.write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
