"""A server stops soon, even during a stuck call, and the next server resumes its runs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.faults.servers import Server, asked, assert_sound, events, run_id, serving, state
from tests.faults.test_kill import STEADY, children
from tests.waiting import LONG, until


def send_stop_signal(server: Server, how: str) -> None:
    """Send the signal to the master, or, as Ctrl-C in a terminal does, to every process at once."""
    workers = children(server.process.pid) if how == "Ctrl-C" else []
    for process in [*workers, server.process.pid]:
        os.kill(process, signal.SIGTERM if how == "SIGTERM" else signal.SIGINT)


def lease(instance: Path, run: str) -> tuple:
    return asked(instance, "select holder, leased_until, state from runs where id = ?", run)[0]


def stop_in_the_middle(instance: Path, how: str) -> tuple[Server, str, str]:
    """Stop a server during a stuck call, with a page open; return it, the stuck run and one that waits behind it."""
    with serving(instance, STEADY, STUCK_IN="answer 1", WORKERS="1") as server:
        stuck, waiting = (run_id(server.start()) for _ in range(2))
        until(lambda: "question_asked" in events(instance, stuck), "a run in the middle of its hop")
        assert lease(instance, stuck)[0] is not None
        with urlopen(f"{server.address}/runs/{stuck}/events", timeout=LONG) as follower:
            assert follower.readline().startswith(b"retry:")
            began = time.monotonic()
            send_stop_signal(server, how)
            rest = follower.read()
            ended = time.monotonic() - began
        assert server.process.wait(LONG) == 0
        left = time.monotonic() - began
        print(f"{how}: the stream ended after {ended:.1f} s, the server after {left:.1f} s")
        assert ended < LONG / 2 and left < LONG / 2, "it does not wait for the call, which takes ten minutes"
        assert b"event: end" not in rest, "the run has not ended, so the page comes back"
        assert [lease(instance, run) for run in (stuck, waiting)] == [(None, None, "running")] * 2
    return server, stuck, waiting


@pytest.mark.parametrize("how", ["SIGINT", "Ctrl-C"])
def test_an_interrupted_server_stops_soon_despite_a_stuck_call_and_an_open_page(instance, how):
    stop_in_the_middle(instance, how)


def test_a_terminated_server_stops_soon_and_the_next_resumes_its_runs(instance):
    stopped, stuck, waiting = stop_in_the_middle(instance, "SIGTERM")
    with serving(instance, STEADY, STEP_SECONDS="0") as server:
        until(lambda: {state(instance, run) for run in (stuck, waiting)} == {"verdict"}, "two verdicts")
        assert asked(instance, "select distinct cut_offs from runs") == [(0,)], "a released lease need not expire"
        page = server.wait_for(f"/runs/{stuck}", 'id="verdict-heading"')
        assert "Supported" in page and "It was cut off and taken up again once." in page
        assert page.count("Who wrote Hamlet?") == 1
        server.browser = stopped.browser
        assert server.get("/").text.count("Hamlet&#39;s author") == 2, "the browser's own runs are remembered"
    assert (instance / "secret_key").stat().st_mode & 0o777 == 0o600
    assert events(instance, stuck).count("run_resumed") == 1
    assert "run_resumed" not in events(instance, waiting)
    assert_sound(instance)
