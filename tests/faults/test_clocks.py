"""Workers whose clocks are hours apart carry out each run once, in order (leases and events: tests/runs).

The clock of a worker is set by odd_clocks.py.
"""

from __future__ import annotations

import pytest

from tests import redis_server
from tests.faults.servers import run_id
from tests.faults.site import site
from tests.faults.steady import CALLS
from tests.waiting import until

pytestmark = pytest.mark.timeout(600)

HOUR = 3600


def test_workers_whose_clocks_are_two_hours_apart_carry_each_run_out_exactly_once(tmp_path, postgresql):
    (held := tmp_path / "held").touch()
    with redis_server.running() as redis, site(tmp_path / "instance", postgresql, redis, forked=False) as made:
        stuck = {"WORKERS": "2", "STUCK_IN": "answer 2", "HELD_BY": str(held)}
        odd = "tests.faults.odd_clocks:odd_app"
        workers = [made.worker(app=odd, CLOCK_AHEAD=str(ahead), **stuck) for ahead in (HOUR, -HOUR)]
        web = made.web()
        for each in workers:
            each.wait_until_up()
        runs = [run_id(web.start(f"Claim {number} of a play.")) for number in range(4)]
        for run in runs:
            until(lambda run=run: [kind for kind, _, _ in made.events(run)].count("question_asked") == 2, "its middle")
        held.unlink()
        until(lambda: all(made.state(run) != "running" for run in runs), "an end of every run")
        for run in runs:
            made.assert_whole(run)
            events = made.events(run)
            times = [at for _, at, _ in events]
            assert "run_resumed" not in [kind for kind, _, _ in events]
            assert sum(body["usage"]["calls"] for kind, _, body in events if kind == "tokens_used") == CALLS
            assert times == sorted(times) and times[-1] - times[2] < HOUR / 2
            assert made.ask("select epoch, cut_offs from runs where id = :run", run=run) == [(1, 0)]
        for each in workers:
            assert any(f"run {run} verdict" in each.said() for run in runs), "each had a part in it"
