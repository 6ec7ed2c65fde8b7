"""A run outlives nobody's memory of it: what a dead process left unfinished is ended, what a living one runs is not."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.reasoning.types import Claim, HopStatus, RunOptions
from app.runs.jobs import ThreadJobs
from app.runs.service import Runs
from app.settings import ROOT
from tests.fakes import Gate, scripted_wiring
from tests.runs.conftest import ended

CLAIM = Claim("The author of Hamlet was born in England.")

OTHER = """
import sys, time
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker
from app.reasoning.types import Claim, RunOptions
from app.runs.jobs import ThreadJobs
from app.runs.service import Runs
from tests.fakes import Gate, scripted_wiring

gate = Gate("answer 2")
runs = Runs(sessionmaker(create_engine(sys.argv[1])), ThreadJobs(1), scripted_wiring(gate=gate).strategy_for)
ids = [runs.start(Claim("Theirs."), RunOptions(), "they") for _ in range(2)]
gate.reached.wait(30)
print(*ids, flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(database_url):
    """A process in the middle of one run, with a second one waiting; and the two runs' ids."""
    process = subprocess.Popen([sys.executable, "-c", OTHER, database_url], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    yield process, process.stdout.readline().split()
    process.kill()
    process.wait()
    process.stdout.close()


def test_runs_of_a_killed_process_are_ended_with_what_they_had(runs_with, other):
    process, (running, waiting) = other
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    runs = runs_with(scripted_wiring())
    assert runs.report(running).report.ended is None
    assert runs.recover() == 2
    report = runs.report(running).report
    assert (report.ended, report.problem) == ("interrupted", "Hopcheck was restarted while this run was going on.")
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT, HopStatus.INTERRUPTED]
    assert runs.report(waiting).report.ended == "interrupted"
    assert [each.state for each in runs.recent("they")] == ["interrupted"] * 2
    assert runs.recover() == 0


def test_runs_of_a_living_process_are_left_alone(runs_with, other):
    _, ids = other
    runs = runs_with(scripted_wiring())
    assert runs.recover() == 0
    assert [runs.report(each).report.ended for each in ids] == [None, None]


def test_a_process_does_not_end_its_own_runs(runs_with):
    gate = Gate("answer 1")
    runs = runs_with(scripted_wiring(gate=gate))
    run_id = runs.start(CLAIM, RunOptions(), "me")
    assert gate.reached.wait(30)
    assert runs.recover() == 0
    gate.open()
    assert ended(runs, run_id).ended == "verdict"


def test_finished_runs_of_a_dead_process_stay_as_they_are(runs_with, other):
    process, _ = other
    runs = runs_with(scripted_wiring())
    mine = runs.start(CLAIM, RunOptions(), "me")
    before = ended(runs, mine)
    process.kill()
    process.wait(30)
    runs.recover()
    assert runs.report(mine).report == before


def test_of_processes_that_recover_at_once_each_run_is_ended_by_one(sessions, other):
    process, ids = other
    process.kill()
    process.wait(30)
    several = [Runs(sessions, ThreadJobs(1), scripted_wiring().strategy_for) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(Runs.recover, several)) == 2
    for run_id in ids:
        assert several[0].report(run_id).report.ended == "interrupted"
