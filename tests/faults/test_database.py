"""The database locked, on a full disk, read-only, or never migrated, under a server that is running."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from app import create_app
from app.config.settings import Settings
from tests.fakes import scripted_container
from tests.faults.servers import (
    CLAIM,
    DATABASE,
    asked,
    assert_sound,
    events,
    flask,
    run_id,
    serving,
    state,
)
from tests.faults.test_kill import STEADY
from tests.waiting import until

HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
held.execute("begin exclusive")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(database: Path):
    """Hold the lock of the database in another process for the block."""
    command = [sys.executable, "-c", HOLD, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.stdin.close()


def command(instance: Path, *arguments: str) -> Result:
    """Run `flask --app app ...` on the instance, in this process."""
    settings = Settings(instance=instance, database_url=f"sqlite:///{instance / DATABASE}")
    return create_app(settings, scripted_container()).test_cli_runner().invoke(args=arguments)


@pytest.fixture
def held(tmp_path) -> Path:
    """A file that holds runs at their second question until it is deleted."""
    (file := tmp_path / "held").touch()
    return file


def test_a_lock_of_ten_seconds_does_not_harm_a_run_and_is_reported_to_visitors(instance, held):
    with serving(instance, STEADY, STUCK_IN="answer 2", HELD_BY=str(held)) as server:
        token, path = server.token(), server.start()
        server.wait_for(path, "Where was William Shakespeare born?")
        with locked(instance / DATABASE):
            held.unlink()
            began = time.monotonic()
            for readable in ("/", path, "/how-it-works"):
                assert server.get(readable).status == 200, "reading does not wait for the lock, which is still held"
            refused = server.send(token, claim="Some other claim.")
            time.sleep(max(0.0, 10 - (time.monotonic() - began)))
        assert refused.status == 503 and "The database is busy" in refused.text
        assert "Some other claim." in refused.text, "what was typed is not lost"
        assert int(refused.headers["Retry-After"]) > 0
        assert "Traceback" not in refused.text
        server.wait_for(path, 'id="verdict-heading"')
        assert state(instance, run_id(path)) == "verdict"
        assert events(instance, run_id(path)).count("hop_kept") == 2
        assert server.send(token).status == 200
        assert "The database is busy" in server.said()
    assert_sound(instance)


def fill(folder: Path) -> Path:
    """Fill the disk with one file and return its path."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


def test_a_full_disk_during_a_run_loses_nothing_and_the_run_ends_once_there_is_room(tmp_path, migrated, mount, held):
    instance = tmp_path / "instance"
    instance.mkdir()
    mount(instance, "-t", "tmpfs", "-o", "size=8m", "tmpfs")
    shutil.copy(migrated, instance / DATABASE)
    with serving(instance, STEADY, STUCK_IN="answer 2", HELD_BY=str(held)) as server:
        token, path = server.token(), server.start()
        server.wait_for(path, "Where was William Shakespeare born?")
        filler = fill(instance)
        held.unlink()
        until(lambda: "The disk that holds the database is full" in server.said(), "a line in the log")
        refused = server.send(token)
        assert refused.status == 503 and "The disk that holds the database is full" in refused.text
        assert "Traceback" not in refused.text
        assert "verdict-heading" not in server.get(path).text
        assert state(instance, run_id(path)) == "running"
        assert_sound(instance)
        filler.unlink()
        server.wait_for(path, 'id="verdict-heading"')
        server.wait_for(server.start(), 'id="verdict-heading"')
        assert events(instance, run_id(path)).count("hop_kept") == 2
        assert_sound(instance)


def test_on_a_read_only_disk_old_runs_are_shown_and_new_ones_are_refused(tmp_path, instance, old_run, mount):
    """There SQLite can read a database in WAL mode only while its -wal and -shm files exist."""
    read_only = tmp_path / "read-only"
    read_only.mkdir()
    mount(read_only, "--bind", str(instance))
    subprocess.run(["mount", "-o", "remount,bind,ro", str(read_only)], check=True)
    with closing(sqlite3.connect(instance / DATABASE)) as opened:
        opened.execute("select count(*) from runs").fetchone()  # makes the two files and keeps them open
        with serving(read_only, SECRET_KEY="x" * 40) as server:
            assert "Supported" in server.get(old_run).text
            refused = server.send(server.token())
            assert refused.status == 503 and "The database is read-only" in refused.text
            assert "Traceback" not in refused.text
            assert "The database is read-only" in server.said()
            watched = server.get("/readyz")
            assert watched.status == 503 and "The database is read-only" in watched.text
            assert "The database is read-only" in command(read_only, "doctor").stdout
    assert not (instance / f"{DATABASE}-wal").exists()
    before = (instance / DATABASE).read_bytes()
    assert "cannot be written (Read-only file system)" in command(read_only, "doctor").stdout
    checked = command(read_only, "check", CLAIM)
    assert checked.exit_code == 1 and "Traceback" not in checked.stderr
    assert checked.stderr.splitlines()[-1].endswith("Its folder must be there and be writable.")
    assert (instance / DATABASE).read_bytes() == before
    assert_sound(instance)


def test_an_unmigrated_database_names_the_command_which_works_without_a_restart(tmp_path):
    instance = tmp_path / "instance"
    instance.mkdir()
    with serving(instance) as server:
        page = server.get("/")
        assert page.status == 503 and "flask --app app db upgrade" in page.text
        assert "flask --app app db upgrade" in server.said()
        checked = command(instance, "check", CLAIM)
        assert checked.exit_code == 1 and "Traceback" not in checked.stderr
        assert checked.stderr.splitlines()[-1].endswith("flask --app app db upgrade")
        assert flask(instance, "db", "upgrade").returncode == 0
        server.wait_for(server.start(), 'id="verdict-heading"')
    assert asked(instance, "select count(*) from runs") == [(1,)]
    assert_sound(instance)
