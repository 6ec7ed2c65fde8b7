"""Clocks that are an hour wrong, or jump by one, and code of two versions: leases and events stay right.

The database's clock is set by tests/set_clock.py, that of a worker by odd_clocks.py.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import redis_server
from tests.faults.servers import run_id
from tests.faults.site import Site, Worker, site
from tests.faults.steady import CALLS
from tests.set_clock import SetClock
from tests.waiting import until

pytestmark = pytest.mark.timeout(600)

HOUR = 3600
ODD = "tests.faults.odd_clocks:odd_app"


class Fleet:
    """A site whose database's clock can be set, with one web process, and two workers whose clocks are hours apart.

    Runs wait in the middle while the file `held` exists.
    """

    def __init__(self, made: Site, held: Path) -> None:
        self.site = made
        self.held = held
        self.clock = SetClock(made.url)
        self._workers = [self._worker(ahead) for ahead in (HOUR, -HOUR)]
        self.web = made.web()

    def workers(self) -> list[Worker]:
        """Replace a killed worker and return both once they are up."""
        self._workers = [each if each.process.poll() is None else self._worker(HOUR) for each in self._workers]
        for each in self._workers:
            each.wait_until_up()
        return self._workers

    def _worker(self, ahead: float) -> Worker:
        return self.site.worker(
            app=ODD, CLOCK_AHEAD=str(ahead), WORKERS="2", STUCK_IN="answer 2", HELD_BY=str(self.held)
        )


@pytest.fixture(scope="module")
def shared_fleet(tmp_path_factory, postgresql) -> Iterator[Fleet]:
    """A fleet that all tests share, because starting its processes takes the longest."""
    folder = tmp_path_factory.mktemp("fleet") / "instance"
    with redis_server.running() as redis, site(folder, postgresql, redis, forked=False) as made:
        yield Fleet(made, folder.with_name("held"))


@pytest.fixture
def fleet(shared_fleet) -> Iterator[Fleet]:
    """The shared fleet; its database's clock is right before and after each test."""
    yield shared_fleet
    shared_fleet.held.unlink(missing_ok=True)
    shared_fleet.clock.set(0)


def ended(made: Site, runs: list[str]) -> None:
    until(lambda: all(made.state(run) != "running" for run in runs), "an end of every run")


def under_way(made: Site, run: str) -> int:
    """Wait until the run is past its first answer and return the process id of its holder."""
    until(lambda: kinds(made, run).count("question_asked") == 2, "a run in the middle")
    return made.holder(run)


def assert_undisturbed(made: Site, run: str) -> None:
    """Check that one holder carried out the whole run, made no call twice, and stored increasing times."""
    made.assert_whole(run)
    events = made.events(run)
    times = [at for _, at, _ in events]
    assert "run_resumed" not in kinds(made, run)
    assert sum(body["usage"]["calls"] for kind, _, body in events if kind == "tokens_used") == CALLS
    assert times == sorted(times) and times[-1] - times[2] < HOUR / 2, "an hour that did not pass is told nowhere"
    assert made.ask("select epoch, cut_offs from runs where id = :run", run=run) == [(1, 0)]


def test_workers_whose_clocks_are_two_hours_apart_carry_each_run_out_exactly_once(fleet):
    workers = fleet.workers()
    fleet.held.touch()
    runs = [run_id(fleet.web.start(f"Claim {number} of a play.")) for number in range(4)]
    for run in runs:
        under_way(fleet.site, run)
    fleet.held.unlink()
    ended(fleet.site, runs)
    for run in runs:
        assert_undisturbed(fleet.site, run)
    for each in workers:
        assert any(f"run {run} verdict" in each.said() for run in runs), "each had a part in it"


def test_a_jump_of_the_database_clock_by_an_hour_does_not_disturb_a_running_run(fleet):
    fleet.workers()
    for jump in (HOUR, 0):
        fleet.held.touch()
        runs = [run_id(fleet.web.start()) for _ in range(2)]
        for run in runs:
            under_way(fleet.site, run)
        fleet.clock.set(jump)
        fleet.held.unlink()
        ended(fleet.site, runs)
        for run in runs:
            assert_undisturbed(fleet.site, run)
            assert 'id="verdict-heading"' in fleet.web.get(f"/runs/{run}").text


def test_a_run_is_resumed_soon_when_its_worker_dies_as_the_clock_is_set_back(fleet):
    fleet.workers()
    fleet.held.touch()
    run = run_id(fleet.web.start())
    holder = under_way(fleet.site, run)
    fleet.clock.set(-HOUR)
    os.kill(holder, signal.SIGKILL)
    fleet.held.unlink()
    killed = time.monotonic()
    until(lambda: "run_resumed" in kinds(fleet.site, run), "another holder")
    print(f"taken up after {time.monotonic() - killed:.0f} s")
    ended(fleet.site, [run])
    fleet.site.assert_whole(run)
    times = [at for _, at, _ in fleet.site.events(run)]
    assert times == sorted(times)


def test_a_worker_of_an_older_version_leaves_a_run_that_it_cannot_read_to_a_newer_one(fleet):
    made, older = fleet.site, fleet.workers()
    newer_web = made.web(app=ODD, SCHEMA_VERSION="3")
    newer, own = run_id(newer_web.start()), run_id(fleet.web.start())
    ended(made, [own])
    made.assert_whole(own)
    reason = "events of schema version 3 cannot be read, only of 1 and 2"
    refusal = f"run {newer} is left to another version that can read it: {reason}"
    until(lambda: all(refusal in each.said() for each in older), "a refusal in each log")
    assert made.ask("select state, holder, cut_offs from runs where id = :run", run=newer) == [("running", None, 0)]
    assert kinds(made, newer) == ["run_started", "phase_entered"], "nothing was added"
    page = fleet.web.get(f"/runs/{newer}")
    assert page.status == 501 and "stored by another version" in page.text
    made.worker(app=ODD, SCHEMA_VERSION="3").wait_until_up()
    ended(made, [newer])
    made.assert_whole(newer)
    assert "run_resumed" not in kinds(made, newer)
    assert made.ask("select distinct version from events where run_id = :run", run=newer) == [(3,)]
    assert [each.said().count(newer) for each in older] == [1, 1], "it is refused from then on"


def kinds(made: Site, run: str) -> list[str]:
    return [kind for kind, _, _ in made.events(run)]
