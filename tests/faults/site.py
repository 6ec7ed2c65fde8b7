"""A site of several processes: real web servers and workers on a real PostgreSQL and Redis."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, text

from tests.faults.processes import ForkedProcess
from tests.faults.servers import ENDS, ROOT, START_SECONDS, Server, run, serving, surroundings
from tests.postgres import PostgreSQL
from tests.redis_server import RedisServer
from tests.waiting import LONG, until

STEADY = "tests.faults.steady:steady_app"


class Worker:
    """A worker process; `log` is the file with its output."""

    def __init__(self, process: ForkedProcess | subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    def wait_until_up(self) -> None:
        """Wait until it takes runs."""
        until(lambda: " ready." in self.said(), "a worker that is up", START_SECONDS)

    def said(self) -> str:
        """Return the log so far."""
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """Kill it without a warning."""
        self.process.kill()
        self.process.wait(LONG)


class Site:
    """One database, one Redis and the processes started on them, which end with the site."""

    def __init__(
        self, folder: Path, postgresql: PostgreSQL, redis: RedisServer, stack: ExitStack, forked: bool
    ) -> None:
        self.postgresql = postgresql
        self.redis = redis
        self._folder = folder
        self._stack = stack
        self._forked = forked
        self.url = postgresql.fresh()
        self._engine: Engine = create_engine(self.url, pool_pre_ping=True)
        stack.callback(self._engine.dispose)
        self._workers = 0

    def web(self, app: str = STEADY, **environment: str) -> Server:
        """Start another web server of the application factory `app` and return it once it answers."""
        return self._stack.enter_context(
            serving(self._folder, f"{app}()", forked=self._forked, **self._environment(environment))
        )

    def worker(self, app: str = STEADY, arguments: Sequence[str] = (), **environment: str) -> Worker:
        """Start another worker; it may not be up yet when this returns."""
        self._workers += 1
        log = self._folder.with_name(f"worker-{self._workers}.log")
        command = ["flask", "--app", f"{app}(commands=True)", "worker", *arguments]
        given = surroundings(self._folder, **self._environment(environment))
        process = run(command, ROOT, given, log, self._forked)
        self._stack.callback(process.wait, LONG)
        self._stack.callback(process.kill)
        return Worker(process, log)

    def ask(self, statement: str, **values: Any) -> list[tuple]:
        """Return the rows of a query."""
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]

    def state(self, run: str) -> str:
        return self.ask("select state from runs where id = :run", run=run)[0][0]

    def holder(self, run: str) -> int | None:
        """Return the process id of the run's lease holder."""
        (name,) = self.ask("select holder from runs where id = :run and leased_until is not null", run=run) or [(None,)]
        return int(name[0].rpartition(":")[2]) if name[0] else None

    def events(self, run: str) -> list[tuple[str, float, dict]]:
        """Return (kind, time in seconds, body) of each event in order, and check that there are no gaps."""
        rows = self.ask(
            "select seq, kind, extract(epoch from at), body from events where run_id = :run order by seq", run=run
        )
        assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
        return [(kind, float(at), body if isinstance(body, dict) else json.loads(body)) for _, kind, at, body in rows]

    def assert_whole(self, run: str) -> None:
        """Check that the run has two kept hops and one terminal event, a verdict, as its last."""
        kinds = [kind for kind, _, _ in self.events(run)]
        assert [kind for kind in kinds if kind in ENDS] == ["verdict_reached"] and kinds[-1] == "verdict_reached", kinds
        assert kinds.count("hop_kept") == 2, kinds

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        shared = {"DATABASE_URL": self.url, "REDIS_URL": self.redis.url, "SECRET_KEY": "x" * 40}
        return {**shared, **more}


@contextmanager
def site(folder: Path, postgresql: PostgreSQL, redis: RedisServer, forked: bool = True) -> Iterator[Site]:
    """A site whose processes share the instance folder `folder`. Its workers are forks unless their code differs."""
    folder.mkdir(exist_ok=True)
    with ExitStack() as stack:
        yield Site(folder, postgresql, redis, stack, forked)
