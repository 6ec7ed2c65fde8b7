"""Who is dead: told by the kernel, however a process ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import make_url

from app.runs.processes import Processes
from app.settings import ROOT

HOLDER = """
import sys, time
from pathlib import Path
from app.runs.processes import Processes

processes = Processes(Path(sys.argv[1]))
print(processes.own_name(), flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(tmp_path):
    """A living process and its name."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_process_keeps_its_name_and_is_not_dead_to_itself(tmp_path):
    processes = Processes(tmp_path)
    name = processes.own_name()
    assert processes.own_name() == name
    assert not processes.is_dead(name)
    assert not Processes(tmp_path).is_dead(name)


def test_a_process_lives_until_it_is_killed_outright(tmp_path, other):
    process, name = other
    processes = Processes(tmp_path)
    assert not processes.is_dead(name)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    assert processes.is_dead(name)
    assert not (tmp_path / name).exists()
    assert processes.is_dead(name), "asked again, it is dead still"


def test_a_name_that_left_no_trace_is_dead(tmp_path):
    assert Processes(tmp_path).is_dead("0123456789abcdef")


def test_after_a_fork_parent_and_child_have_their_own_names(tmp_path):
    processes = Processes(tmp_path)
    parent = processes.own_name()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, processes.own_name().encode())
        os._exit(0)
    os.waitpid(child, 0)
    name = os.read(read, 100).decode()
    os.close(read), os.close(write)
    assert name != parent
    assert processes.is_dead(name) and not processes.is_dead(parent)


@pytest.mark.parametrize(
    "url, folder",
    [
        ("sqlite:////srv/hop/hopcheck.sqlite3", Path("/srv/hop/processes")),
        ("sqlite://", Path(tempfile.gettempdir()) / "hopcheck-processes"),
        ("postgresql+psycopg://db.example/hopcheck", Path(tempfile.gettempdir()) / "hopcheck-processes"),
    ],
)
def test_processes_that_share_a_database_meet_in_one_folder(url, folder):
    assert Processes.beside(make_url(url)).folder == folder
