"""A server as `make run` starts it, with a database of its own and queries on it."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.load.scripted import APP, HOPS
from benchmarks.soak_server import error_lines
from tests.faults.servers import DATABASE, Server, flask, serving, until

WARM_SECONDS = 120.0
_UNLIMITED = "1000000 per minute"


class Node:
    """A gunicorn server with SQLite that executes its runs in threads."""

    def __init__(self, server: Server, instance: Path) -> None:
        self.server = server
        self.port = int(server.address.rpartition(":")[2])
        self._instance = instance

    def query(self, statement: str) -> list[tuple]:
        """Return the rows of a query on a read-only connection."""
        with closing(sqlite3.connect(f"file:{self._instance / DATABASE}?mode=ro", uri=True, timeout=30)) as database:
            return database.execute(statement).fetchall()

    def stored_at(self) -> dict[str, dict[int, float]]:
        """Return the Unix time at which each event was stored, by run id and event number."""
        found: dict[str, dict[int, float]] = {}
        for run_id, seq, at in self.query("select run_id, seq, at from events"):
            found.setdefault(run_id, {})[seq] = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
        return found

    def unfinished(self) -> int:
        """Return the number of running and queued runs."""
        return self.query("select count(*) from runs where state = 'running'")[0][0]

    def without_verdict(self) -> int:
        """Return the number of runs without a verdict."""
        return self.query("select count(*) from runs where state != 'verdict'")[0][0]

    def error_lines(self) -> int:
        """Return the number of log lines with errors."""
        return len(error_lines(self.server.said()))


@contextmanager
def node(hops: int, **environment: str) -> Iterator[Node]:
    """Start a node whose runs keep `hops` hops, with these settings, and without a rate limit unless one is set."""
    with tempfile.TemporaryDirectory(prefix="hopcheck-load-") as folder:
        instance = Path(folder) / "instance"
        instance.mkdir()
        done = flask(instance, "db", "upgrade")
        if done.returncode:
            raise SystemExit(f"The database could not be created:\n{done.stderr[-2000:]}")
        settings = {"RATE_LIMIT": _UNLIMITED, HOPS: str(hops), **environment}
        with serving(instance, f"{APP}()", **settings) as server:
            _warm(here := Node(server, instance))
            yield here


def _warm(here: Node) -> None:
    """Execute a run that is not measured, so that modules imported at first use are loaded."""
    here.server.start()
    until(lambda: not here.unfinished(), "an end of the first run", WARM_SECONDS)
