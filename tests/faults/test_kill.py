"""A server is killed at random moments, and its runs still end."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.faults.servers import Server, asked, assert_sound, events, run_id, serving, state
from tests.faults.steady import CALLS
from tests.waiting import LONG, until

STEADY = "tests.faults.steady:steady_app()"
GIVEN_UP = {"code": "cut_off_often", "values": {"times": 3}}
KILLS, MAX_KILLS = 2, 10
"""Kills that cut off a run, and all kills: on a busy machine a run may be over before its kill."""
SLOW = {"STEP_SECONDS": "0.2"}


def children(process: int) -> list[int]:
    """Return the child processes: of a gunicorn master, the worker that carries out the runs."""
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def kill(server: Server, whole: bool) -> None:
    """Kill the worker; if `whole`, kill the master before it."""
    workers = children(server.process.pid)
    for process in [server.process.pid] * whole + workers:
        os.kill(process, signal.SIGKILL)
    if whole:
        server.process.wait(LONG)


def start_two(server: Server) -> list[str]:
    """Start two runs and return their ids; try again while a killed worker is being replaced."""

    def started() -> str | None:
        try:
            return run_id(server.start())
        except OSError:
            return None

    return [until(started, "a run that starts") for _ in range(2)]


def calls_made(instance: Path, run: str) -> int:
    """Return the number of calls in the usage of the run."""
    rows = asked(instance, "select body from events where run_id = ? and kind = 'tokens_used'", run)
    return sum(json.loads(body)["usage"]["calls"] for (body,) in rows)


COUNTED_WITHOUT_REPLY = """
select id from runs where state = 'running' and
    (select count(*) from model_calls where scope = runs.id) <
    (select sum(json_extract(body, '$.usage.calls')) from events where run_id = runs.id and kind = 'tokens_used')
"""
"""Finds runs that have counted a call whose reply is not stored, so that it would be made again."""


def assert_hops_in_order(instance: Path, run: str) -> None:
    """Check that each hop is asked, then closed once, and that it begins after the one before was closed."""
    closed, now = 0, 0
    for kind, body in asked(instance, "select kind, body from events where run_id = ? order by seq", run):
        hop = json.loads(body).get("hop")
        if kind == "question_asked":
            assert hop == closed + 1
            now = hop
        elif kind in ("hop_kept", "hop_set_aside", "hop_failed"):
            assert hop == now == closed + 1
            closed = hop


@pytest.mark.timeout(600)  # starts of a server, and leases that take 15 s to expire
def test_runs_end_complete_although_their_server_is_killed_at_random_moments(instance):
    seed = int(os.environ.get("KILL_SEED", time.time_ns() % 1_000_000))
    print(f"KILL_SEED={seed}")
    moments = random.Random(seed)
    runs: list[str] = []
    kills = cut_off = 0
    while cut_off < KILLS and kills < MAX_KILLS:
        with serving(instance, STEADY, **SLOW) as server:
            whole = False
            while cut_off < KILLS and kills < MAX_KILLS and not whole:
                runs += start_two(server)
                time.sleep(moments.uniform(0, 1.5))
                whole = moments.random() < 0.3
                kill(server, whole)
                kills += 1
                cut_off += any(state(instance, run) == "running" for run in runs)
                assert asked(instance, "pragma integrity_check") == [("ok",)]
                assert asked(instance, COUNTED_WITHOUT_REPLY) == []
    with serving(instance, STEADY) as server:
        until(lambda: all(state(instance, run) != "running" for run in runs), "an end of every run")
        page = server.get(f"/runs/{runs[-1]}").text
    assert_sound(instance)
    ends = [state(instance, run) for run in runs]
    print(f"{kills} kills, {len(runs)} runs: {ends.count('verdict')} verdicts, {ends.count('interrupted')} given up")
    assert page.count("Where was William Shakespeare born?</") == 1
    for run, end in zip(runs, ends, strict=True):
        assert_hops_in_order(instance, run)
        resumed = events(instance, run).count("run_resumed")
        assert calls_made(instance, run) <= CALLS + resumed, "a call is repeated only if it was under way"
        if end == "verdict":
            assert events(instance, run).count("hop_kept") == 2
        else:
            (message,) = asked(instance, "select body from events where run_id = ? order by seq desc limit 1", run)
            assert (end, json.loads(message[0])["message"]) == ("interrupted", GIVEN_UP)
    assert "run_resumed" in {kind for run in runs for kind in events(instance, run)}, "some were really cut off"
    assert "verdict" in ends
    assert asked(instance, "select count(*) from model_calls where scope <> ''") == [(0,)]
