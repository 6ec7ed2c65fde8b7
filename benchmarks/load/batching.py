"""A batch of 200 on PostgreSQL and Redis: one worker process, then two, each carrying out four runs at once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from benchmarks.bench import Line
from benchmarks.load.scripted import APP, HOPS
from tests import postgres, redis_server
from tests.faults.servers import until
from tests.faults.site import Site, site

CLAIMS = 200
RUNS_AT_ONCE = "4"
TIMES = 1.8
END_SECONDS = 900.0

_LASTED = """select extract(epoch from max(ended_at) - min(created_at)) from runs
where batch = (select id from batches order by created_at desc limit 1)"""
_WITHOUT = "select count(*) from runs where state != 'verdict'"
_DONE = "select count(*) from batches where state = 'done'"


def batch(hops: int) -> Iterator[Line]:
    """The same batch twice, on a fresh site each time."""
    what = f"a batch of {CLAIMS}"
    try:
        with ExitStack() as stack:
            servers = stack.enter_context(postgres.running()), stack.enter_context(redis_server.running())
            one, two = (_seconds(workers, hops, *servers) for workers in (1, 2))
    except pytest.skip.Exception as missing:
        yield Line(what, f"not measured: {missing}")
        return
    told = f"{one:.0f} s with one worker, {two:.0f} s with two: {one / two:.2f} times as fast"
    yield Line(what, told, f"{TIMES} times", one / two >= TIMES)


def _seconds(workers: int, hops: int, postgresql: postgres.PostgreSQL, redis: redis_server.RedisServer) -> float:
    """From the batch's first run to the end of its last. Every run has a verdict, or this ends the program."""
    settings = {HOPS: str(hops), "WORKERS": RUNS_AT_ONCE}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hopcheck-load-")))
        here = stack.enter_context(site(folder / "instance", postgresql, redis))
        started = [here.worker(APP, **settings) for _ in range(workers)]
        web = here.web(APP, **settings)
        for each in started:
            each.wait_until_up()
        _done(here, web.address, 4 * workers, 1)  # each worker gets a part of a first one, which nobody measures
        _done(here, web.address, CLAIMS, 2)
        if here.ask(_WITHOUT) != [(0,)]:
            raise SystemExit("runs of the batch ended without a verdict")
        return float(here.ask(_LASTED)[0][0])


def _done(here: Site, address: str, claims: int, batches: int) -> None:
    """Send a batch of so many claims and wait until as many batches are done."""
    body = json.dumps({"claims": [f"Claim {number} of batch {batches}." for number in range(claims)]}).encode()
    with urlopen(Request(f"{address}/api/v1/batches", body, {"Content-Type": "application/json"}), timeout=60):
        until(lambda: here.ask(_DONE) == [(batches,)], END_SECONDS, "an end of the batch")
