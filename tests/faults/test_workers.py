"""Workers, Redis and PostgreSQL that die or go away for a while: no run is lost (web processes: tests/e2e)."""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from app.runs.celery_jobs import alive_workers
from tests import postgres, redis_server
from tests.faults.followers import Follower
from tests.faults.servers import run_id
from tests.faults.site import Site, site
from tests.faults.steady import CALLS
from tests.faults.test_kill import GIVEN_UP, KILLS, SLOW
from tests.waiting import LONG, until

pytestmark = pytest.mark.timeout(600)

RESUME_SECONDS = 90
"""A lease expires after 15 s and its run is resumed at once, or later if a worker has to start on a busy machine."""

REDIS_GONE_SECONDS = 10


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple]:
    """A PostgreSQL for this module only, because it is restarted here, and a Redis."""
    with postgres.running() as database, redis_server.running() as redis:
        yield database, redis


@pytest.fixture
def grown(tmp_path, servers) -> Iterator[Site]:
    with site(tmp_path / "instance", *servers) as made:
        yield made


@pytest.fixture
def held(tmp_path) -> Path:
    """A file that holds stuck runs until it is deleted."""
    file = tmp_path / "held"
    file.touch()
    return file


def finished(grown: Site, runs: list[str]) -> None:
    until(lambda: all(grown.state(run) != "running" for run in runs), "an end of every run")


def calls_made(grown: Site, run: str) -> int:
    return sum(body["usage"]["calls"] for kind, _, body in grown.events(run) if kind == "tokens_used")


def test_workers_of_one_machine_are_told_apart_by_their_names(grown):
    for each in [grown.worker(arguments=("--name", name)) for name in ("one", "two")]:
        each.wait_until_up()
    host = socket.gethostname()
    until(lambda: alive_workers(grown.redis.url) == (f"one@{host}", f"two@{host}"), "two workers by their names")


def test_other_workers_finish_the_runs_of_killed_workers_without_repeating_calls(grown):
    seed = int(os.environ.get("KILL_SEED", time.time_ns() % 1_000_000))
    print(f"KILL_SEED={seed}")
    moments = random.Random(seed)
    web, workers = grown.web(), [grown.worker(**SLOW) for _ in range(2)]
    for each in workers:
        each.wait_until_up()
    runs, kills = [], 0
    while kills < KILLS and len(runs) < 40:
        runs.append(run_id(web.start()))
        holder = until(lambda: grown.holder(runs[-1]) or grown.state(runs[-1]) != "running", "a worker that takes it")
        time.sleep(moments.uniform(0, 0.8))
        for each in [each for each in workers if each.process.pid == holder]:
            each.kill()
            kills += grown.state(runs[-1]) == "running"
            workers.remove(each)
            workers.append(grown.worker(**SLOW))
    finished(grown, runs)
    resumptions = 0
    for run in runs:
        events = grown.events(run)
        if events[-1][0] == "run_interrupted":  # if starting takes long, its next holders were killed too
            assert events[-1][2]["message"] == GIVEN_UP
        else:
            grown.assert_whole(run)
        for (_, before, _), (kind, at, _) in pairwise(events):
            if kind == "run_resumed":
                resumptions += 1
                assert at - before < RESUME_SECONDS
        resumed = sum(kind == "run_resumed" for kind, _, _ in events)
        assert calls_made(grown, run) <= CALLS + resumed, "a call is repeated only if it was under way"
    assert kills == KILLS and resumptions, "some were really cut off"
    assert "verdict" in {grown.state(run) for run in runs}


def test_a_redis_outage_or_flush_neither_loses_nor_stops_a_run(grown, held):
    web = grown.web()
    grown.worker(STEP_SECONDS="0.4", WORKERS="1", STUCK_IN="answer 1", HELD_BY=str(held)).wait_until_up()
    under_way = run_id(web.start())
    until(lambda: grown.holder(under_way), "a run under way")
    grown.redis.stop()
    held.unlink()
    back_at = time.monotonic() + REDIS_GONE_SECONDS
    follower = Follower(f"{web.address}/api/v1/runs/{under_way}/events")
    follower.start()
    meanwhile = run_id(web.start())
    web.wait_for(f"/runs/{under_way}", 'id="verdict-heading"')
    follower.join(LONG)
    assert follower.ids == list(range(1, len(grown.events(under_way)) + 1)), "who follows it is told by polling"
    time.sleep(max(0.0, back_at - time.monotonic()))
    assert grown.state(meanwhile) == "running"
    grown.redis.start()
    waiting = [run_id(web.start()) for _ in range(3)]
    grown.redis.client.flushall()
    finished(grown, [meanwhile, *waiting])
    for run in (under_way, meanwhile, *waiting):
        grown.assert_whole(run)


def test_a_database_restart_shows_a_clear_error_page_and_runs_continue(grown, held):
    web = grown.web()
    grown.worker(STEP_SECONDS="0.4", STUCK_IN="answer 1", HELD_BY=str(held)).wait_until_up()
    run = run_id(web.start())
    until(lambda: grown.holder(run), "a run under way")
    grown.postgresql.stop()
    held.unlink()
    page = web.get(f"/runs/{run}")
    assert page.status == 503 and "The database does not answer." in page.text
    grown.postgresql.start()
    finished(grown, [run])
    grown.assert_whole(run)
