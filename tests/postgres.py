"""A private PostgreSQL for tests: Debian's server in a temporary folder, on a private socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, make_url, text

from app.extensions import db
from app.runs import models  # noqa: F401 - makes the tables known
from tests.waiting import LONG

USER = "postgres"
"""Debian's user of that name, because PostgreSQL does not run as root."""

TEMPLATE = "hopcheck_template"
FASTER = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=200")
"""What is lost when the machine stops is lost with the tests. What was committed outlives the server's own stop."""

MEMORY, ROOM = Path("/dev/shm"), 2 << 30
"""A database is 400 files: copied in a fifth of the time where they lie in memory. So many bytes must be free there."""


class PostgreSQL:
    """A running server. `fresh()` makes a database with the tables in it, in the time that copying one takes."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._numbers = count(1)

    def url(self, database: str) -> str:
        """The address of one of its databases."""
        query = {"host": str(self._folder)}
        return URL.create("postgresql+psycopg", USER, database=database, query=query).render_as_string(False)

    def make(self) -> None:
        """Create the server's files, start it, and prepare a template database with the tables."""
        self._call("initdb", "-D", str(self._data), "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        self.start()
        self._administer(f"CREATE DATABASE {TEMPLATE}")
        engine = create_engine(self.url(TEMPLATE))
        db.metadata.create_all(engine)
        engine.dispose()

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = ["listen_addresses=", f"unix_socket_directories={self._folder}", *FASTER]
        options = " ".join(f"-c {each}" for each in settings)
        self._call("pg_ctl", "-D", str(self._data), "-l", str(self._folder / "log"), "-w", "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once, with open connections."""
        self._call("pg_ctl", "-D", str(self._data), "-w", "-m", "immediate", "stop")

    def fresh(self, with_tables: bool = True) -> str:
        """Return the URL of a new database, with the tables or empty."""
        name = f"hopcheck_{next(self._numbers)}"
        self._administer(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE if with_tables else 'template0'}")
        return self.url(name)

    def drop(self, address: str) -> None:
        """Remove the database at that URL, with open connections."""
        self._administer(f"DROP DATABASE {make_url(address).database} WITH (FORCE)")

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _administer(self, statement: str) -> None:
        engine = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()

    def _call(self, program: str, *arguments: str) -> None:
        as_user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
        environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [self._programs / program, *arguments],
            stdout=subprocess.DEVNULL,  # no pipe: the server would hold it open
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=environment,
            timeout=LONG,
            **as_user,
        )
        if done.returncode:
            log = self._folder / "log"
            raise RuntimeError(f"{program} failed: {log.read_text() if log.exists() else 'without a log'}")


def programs() -> Path | None:
    """Return the folder of Debian's newest PostgreSQL, or of the one on the PATH, or None."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))
    found = shutil.which("pg_ctl")
    return installed[-1] if installed else Path(found).resolve().parent if found else None


def memory() -> Path | None:
    """Return a folder in memory with enough space, if there is one."""
    return MEMORY if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM else None


@contextmanager
def running() -> Iterator[PostgreSQL]:
    """A server for the block. Skips the test that asks for it where PostgreSQL is not installed."""
    found = programs()
    if found is None:
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    # The path of a socket may have 107 bytes, so it is no folder of pytest's.
    folder = Path(tempfile.mkdtemp(prefix="hopcheck-pg-", dir=memory()))
    if os.geteuid() == 0:
        shutil.chown(folder, USER, USER)
    server = PostgreSQL(found, folder)
    try:
        server.make()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
