"""A crowd in a process of its own: people who follow running checks, people who start them, and readers of pages.

    .venv/bin/python -m benchmarks.load.people PORT --people 215 --starts 2 --seconds 60 --out crowd.json

Nine in ten follow as a browser does, on the stream of a run that has just begun, and at its end on that of another. One
in ten is a program that reads the stream of the API, where every event has its own message. People come a few at a
time; only what is asked for once all are there is in what this writes.
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

from benchmarks.load.browsing import Arrivals, Browser, Reply

COME_SECONDS = 12.0
"""So long it takes until everybody is there."""

END_SECONDS = 30.0
"""So long what was begun may take at the end; a stream that goes on then counts as cut off."""

PROGRAMS = 10
"""Every tenth who follows is a program."""

BEGUN = 2
"""The number of the last event that the page of a run tells that waits for its turn."""

READERS = 12
PAGES = ("/", "/how-it-works", "/static/style.css", "finished run", *["running run"] * 3)
THINK_SECONDS = (0.2, 1.2)
"""What a reader waits between two pages."""

NEWEST = 4
"""People open a run that has just begun: one of the last so many."""

LINGER_SECONDS = (0.05, 0.3)
"""Between the end of one run and the stream of the next."""


@dataclass
class Crowd:
    """Everybody, the runs they know of, and what they met."""

    port: int
    seconds: float
    people: int
    starts: float
    pages: list[tuple[str, int, float]] = field(default_factory=list)
    arrivals: list[Arrivals] = field(default_factory=list)
    following: list[int] = field(default_factory=list)
    _live: dict[str, None] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _now: int = 0
    _counts: bool = False
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    async def gather(self) -> None:
        """Come, stay for so many seconds, and see what was begun to its end."""
        going = [asyncio.create_task(each) for each in self._everybody()]
        await asyncio.sleep(COME_SECONDS)
        self._counts = True
        for _ in range(int(self.seconds)):
            await asyncio.sleep(1)
            self.following.append(self._now)
        self._over.set()
        _, late = await asyncio.wait(going, timeout=END_SECONDS)
        for each in late:
            each.cancel()

    def _everybody(self) -> list[Coroutine[Any, Any, None]]:
        people = [self._person(number, COME_SECONDS * number / self.people) for number in range(self.people)]
        return [self._starts(), *people, *(self._reader(number) for number in range(READERS))]

    async def _starts(self) -> None:
        """Somebody comes and starts a run, again and again, whether or not the one before was answered."""
        tasks, began, number = [], time.monotonic(), 0
        while not self._over.is_set():
            tasks.append(asyncio.create_task(self._start(number)))
            number += 1
            await asyncio.sleep(max(0.0, began + number / self.starts - time.monotonic()))
        await asyncio.gather(*tasks)

    async def _start(self, number: int) -> None:
        """Everybody has an address, as on a real network: one alone would soon have started its share."""
        browser = Browser("127.0.0.1", self.port, f"127.0.2.{1 + number % 250}")
        self._met("home", await browser.come())
        started = await browser.start(f"The old harbour's pier number {number} was built before the war.")
        self._met("start a run", started)
        if started.status == 303:
            self._live[started.headers["location"].rpartition("/")[2]] = None

    async def _person(self, number: int, comes_after: float) -> None:
        await asyncio.sleep(comes_after)
        browser, choice = Browser("127.0.0.1", self.port), random.Random(number)
        while not self._over.is_set():
            if self._live:
                run_id = choice.choice(list(self._live)[-NEWEST:])
                await self._follow(browser, run_id, as_program=number % PROGRAMS == 0)
            await asyncio.sleep(choice.uniform(*LINGER_SECONDS))

    async def _follow(self, browser: Browser, run_id: str, as_program: bool) -> None:
        after = 0 if as_program else BEGUN
        path = f"/api/v1/runs/{run_id}/events" if as_program else f"/runs/{run_id}/events?after={after}"
        arrivals = Arrivals(run_id, after, time.time())
        if self._counts:
            self.arrivals.append(arrivals)
        self._now += 1
        await browser.follow(path, arrivals)
        self._now -= 1
        if arrivals.ended:
            self._end(run_id)

    def _end(self, run_id: str) -> None:
        if run_id in self._live:
            del self._live[run_id]
            self._ended.append(run_id)

    async def _reader(self, number: int) -> None:
        browser, choice = Browser("127.0.0.1", self.port), random.Random(-number)
        while not self._over.is_set():
            await asyncio.sleep(choice.uniform(*THINK_SECONDS))
            page = choice.choice(PAGES)
            runs = {"running run": list(self._live), "finished run": self._ended}.get(page)
            if runs is None:
                self._met(page, await browser.get(page))
            elif runs:
                self._met(page, await browser.get(f"/runs/{choice.choice(runs)}"))

    def _met(self, kind: str, reply: Reply) -> None:
        if self._counts:
            self.pages.append((kind, reply.status, reply.milliseconds))


def main() -> None:
    """Gather, and write what was met."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("port", type=int)
    arguments.add_argument("--people", type=int, required=True)
    arguments.add_argument("--starts", type=float, required=True, help="runs begun each second")
    arguments.add_argument("--seconds", type=float, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    crowd = Crowd(given.port, given.seconds, given.people, given.starts)
    asyncio.run(crowd.gather())
    met = {"pages": crowd.pages, "following": crowd.following, "arrivals": [asdict(each) for each in crowd.arrivals]}
    given.out.write_text(json.dumps(met), encoding="utf-8")


if __name__ == "__main__":
    main()
