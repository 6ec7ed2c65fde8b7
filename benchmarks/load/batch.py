"""Measure a batch of 200 claims on PostgreSQL and Redis with one and with two workers of four concurrent runs."""

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
CONCURRENT_RUNS = "4"
MIN_SPEEDUP = 1.8
END_SECONDS = 900.0

_DURATION = """select extract(epoch from max(ended_at) - min(created_at)) from runs
where batch = (select id from batches order by created_at desc limit 1)"""
_WITHOUT_VERDICT = "select count(*) from runs where state != 'verdict'"
_DONE = "select count(*) from batches where state = 'done'"


def batch(hops: int) -> Iterator[Line]:
    """Measure the same batch twice, on a fresh site each time."""
    what = f"a batch of {CLAIMS}"
    try:
        with ExitStack() as stack:
            servers = stack.enter_context(postgres.running()), stack.enter_context(redis_server.running())
            one, two = (_seconds(workers, hops, *servers) for workers in (1, 2))
    except pytest.skip.Exception as missing:
        yield Line(what, f"not measured: {missing}")
        return
    result = f"{one:.0f} s with one worker, {two:.0f} s with two: {one / two:.2f} times as fast"
    yield Line(what, result, f"{MIN_SPEEDUP} times", one / two >= MIN_SPEEDUP)


def _seconds(workers: int, hops: int, postgresql: postgres.PostgreSQL, redis: redis_server.RedisServer) -> float:
    """Return the seconds from the batch's first run to the end of its last. Raises SystemExit if one has no verdict."""
    settings = {HOPS: str(hops), "WORKERS": CONCURRENT_RUNS}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hopcheck-load-")))
        here = stack.enter_context(site(folder / "instance", postgresql, redis))
        started = [here.worker(APP, **settings) for _ in range(workers)]
        web = here.web(APP, **settings)
        for each in started:
            each.wait_until_up()
        _run_batch(here, web.address, 4 * workers, 1)  # warms up each worker
        _run_batch(here, web.address, CLAIMS, 2)
        if here.ask(_WITHOUT_VERDICT) != [(0,)]:
            raise SystemExit("runs of the batch ended without a verdict")
        return float(here.ask(_DURATION)[0][0])


def _run_batch(here: Site, address: str, claims: int, batches: int) -> None:
    """Send a batch of `claims` claims and wait until `batches` batches are done."""
    body = json.dumps({"claims": [f"Claim {number} of batch {batches}." for number in range(claims)]}).encode()
    with urlopen(Request(f"{address}/api/v1/batches", body, {"Content-Type": "application/json"}), timeout=60):
        until(lambda: here.ask(_DONE) == [(batches,)], "an end of the batch", END_SECONDS)
