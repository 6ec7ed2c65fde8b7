"""One web node as `make run` starts it, over a database of its own, and what is seen of it from outside."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.load.scripted import APP, HOPS
from tests.faults.servers import DATABASE, Server, flask, serving, until

_BAD_LINE = re.compile(r"\b(ERROR|CRITICAL)\b|^Traceback", re.MULTILINE)
WARM_SECONDS = 120.0
_UNLIMITED = "1000000 per minute"


class Node:
    """A server with its own work: gunicorn, SQLite, and runs in threads."""

    def __init__(self, server: Server, instance: Path) -> None:
        self.server = server
        self.port = int(server.address.rpartition(":")[2])
        self._instance = instance

    def asked(self, statement: str) -> list[tuple]:
        """The rows of a look into the database."""
        with closing(sqlite3.connect(f"file:{self._instance / DATABASE}?mode=ro", uri=True, timeout=30)) as database:
            return database.execute(statement).fetchall()

    def stored_at(self) -> dict[str, dict[int, float]]:
        """When each event of each run was stored, in seconds, by its number."""
        found: dict[str, dict[int, float]] = {}
        for run_id, seq, at in self.asked("select run_id, seq, at from events"):
            found.setdefault(run_id, {})[seq] = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
        return found

    def unfinished(self) -> int:
        """How many runs go on or wait."""
        return self.asked("select count(*) from runs where state = 'running'")[0][0]

    def without_verdict(self) -> int:
        """How many runs have no verdict."""
        return self.asked("select count(*) from runs where state != 'verdict'")[0][0]

    def error_lines(self) -> int:
        """How many lines of its log tell of errors."""
        return len(_BAD_LINE.findall(self.server.said()))


@contextmanager
def node(hops: int, **environment: str) -> Iterator[Node]:
    """A node whose runs keep so many hops, with these settings; nobody is turned away for coming often, unless set."""
    with tempfile.TemporaryDirectory(prefix="hopcheck-load-") as folder:
        instance = Path(folder) / "instance"
        instance.mkdir()
        made = flask(instance, "db", "upgrade")
        if made.returncode:
            raise SystemExit(f"The database could not be made:\n{made.stderr[-2000:]}")
        settings = {"RATE_LIMIT": _UNLIMITED, HOPS: str(hops), **environment}
        with serving(instance, f"{APP}()", **settings) as server:
            _warm(here := Node(server, instance))
            yield here


def _warm(here: Node) -> None:
    """One run that nobody measures: what is imported at its first use, is."""
    here.server.start()
    until(lambda: not here.unfinished(), WARM_SECONDS, "an end of the first run")
