"""Leases and the times of events use monotonic clocks: setting the database's clock changes nothing.

PostgreSQL's clock really is set here, by a function that shadows its own.
"""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, make_url, text

from app.domain.events import PhaseEntered, RunResumed
from app.domain.messages import Code
from app.runs.leases import LEASE_SECONDS, RENEW_SECONDS, Leases
from app.runs.runner import worked_seconds
from tests.runs.conftest import lapse, row_of

HOUR = 3600.0
on_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
"""SQLite's clock is the machine's, which a test cannot set; the same code computes its leases and times."""


SHIFTED = """
CREATE FUNCTION set_clock.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
$$ SELECT pg_catalog.clock_timestamp() + ahead FROM set_clock.by $$
"""


class SetClock:
    """Makes a schema that precedes PostgreSQL's own in the search path, with its own `clock_timestamp`."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url, isolation_level="AUTOCOMMIT")
        database = make_url(url).database
        self._do(
            "CREATE SCHEMA set_clock",
            "CREATE TABLE set_clock.by (ahead interval)",
            "INSERT INTO set_clock.by VALUES ('0')",
            SHIFTED,
            f'ALTER DATABASE "{database}" SET search_path = set_clock, pg_catalog, public',
        )

    def set(self, seconds: float) -> None:
        """Set the clock ahead of the machine's by `seconds`, or behind when below 0."""
        self._do(f"UPDATE set_clock.by SET ahead = make_interval(secs => {seconds})")

    def _do(self, *statements: str) -> None:
        with self._engine.connect() as connection:
            for statement in statements:
                connection.execute(text(statement))
        self._engine.dispose()


@pytest.fixture
def clock(database_url) -> SetClock:
    """The settable clock of the database, made before the first connection."""
    return SetClock(database_url)


class Watcher:
    """Looks for stale leases by a clock that is moved by hand."""

    def __init__(self, sessions) -> None:
        self._now = 0.0
        self._watch = Leases(sessions, clock=lambda: self._now)

    def look_after(self, seconds: float) -> tuple[str, ...]:
        """Advance the clock, check, and return the runs whose leases expired."""
        self._now += seconds
        return self._watch.expire_stale()

    def look_for(self, seconds: float) -> list[str]:
        """Check every two seconds for `seconds` and return the runs whose leases expired."""
        return [run_id for _ in range(int(seconds / 2)) for run_id in self.look_after(2.0)]


def test_a_lease_that_is_not_renewed_expires_once_and_not_too_early(log, sessions, leases_with):
    leases_with().acquire("run")
    watchers = Watcher(sessions), Watcher(sessions)
    for each in watchers:
        each.look_after(0.0)
        assert each.look_for(LEASE_SECONDS - 2) == []
    assert [each.look_for(4) for each in watchers] == [["run"], []]
    row = row_of(sessions, "run")
    assert (row.holder, row.leased_until, row.epoch, row.cut_offs) == (None, None, 2, 1)


def test_a_new_process_expires_no_lease_at_its_first_check(log, sessions, leases_with):
    leases_with().acquire("run")
    assert Watcher(sessions).look_after(HOUR) == ()


def test_a_process_that_could_not_check_for_a_while_gives_holders_time_to_renew(log, sessions, leases_with):
    """For example after an outage of the database, in which no holder could renew."""
    leases_with().acquire("run")
    watcher = Watcher(sessions)
    watcher.look_after(0.0)
    assert watcher.look_after(HOUR) == ()
    assert watcher.look_for(LEASE_SECONDS - RENEW_SECONDS - 2) == []
    assert watcher.look_for(4) == ["run"]


@on_postgresql
@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_clock_jump_of_an_hour_takes_no_run_from_a_live_holder(clock, log, sessions, leases_with, jump):
    leases, watcher = leases_with(), Watcher(sessions)
    leases.acquire("run")
    watcher.look_after(0.0)
    clock.set(jump)
    assert watcher.look_for(LEASE_SECONDS - 2) == []
    leases.renew()
    assert watcher.look_for(LEASE_SECONDS - 2) == []
    assert leases_with().acquire("run") is None
    assert row_of(sessions, "run").epoch == 1


@on_postgresql
@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_clock_jump_of_an_hour_does_not_delay_the_expiry_of_a_dead_lease(clock, log, sessions, leases_with, jump):
    leases_with().acquire("run")
    watcher = Watcher(sessions)
    watcher.look_after(0.0)
    clock.set(jump)
    assert watcher.look_for(LEASE_SECONDS + 2) == ["run"]
    assert leases_with().acquire("run").lost_leases == 1


@on_postgresql
def test_a_run_whose_message_was_lost_is_found_after_the_clock_was_set_back(clock, log, leases_with):
    leases = leases_with()
    assert leases.free_runs(grace_seconds=5) == ()
    clock.set(-HOUR)
    assert leases.free_runs(grace_seconds=5) == ("run",)


@on_postgresql
@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_clock_jump_changes_neither_the_order_of_events_nor_the_worked_time(clock, log, sessions, leases_with, jump):
    first = leases_with().acquire("run")
    log.append(first, PhaseEntered(Code.STARTING()))
    clock.set(jump)
    log.append(first, PhaseEntered("searching"))
    lapse(sessions, "run")
    second = leases_with().acquire("run")
    log.append(second, RunResumed("The check was cut off."))
    clock.set(0.0)
    log.append(second, PhaseEntered("reading"))
    events = log.read("run")
    seconds = [each.seconds for each in events]
    assert seconds == sorted(seconds) and seconds[0] >= 0
    assert worked_seconds(events) < 60, "an hour that did not pass is not counted against its limit"
    assert seconds[3] - seconds[2] < 60, "nor shown as a step's duration"
