"""Start servers as an operator does, each a real gunicorn process, and visit them as a browser does."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

from tests.faults.processes import ForkedProcess
from tests.ports import free_port
from tests.waiting import LONG, until

ROOT = Path(__file__).resolve().parents[2]
CLAIM = "Hamlet's author was born in England."
SCRIPTED = "tests.faults.scripted:scripted_app()"
DATABASE = "hopcheck.sqlite3"
START_SECONDS = 180
"""Enough on a busy machine; otherwise a process starts within a few seconds."""


class Page(NamedTuple):
    """A response after redirects."""

    status: int
    text: str
    url: str
    headers: dict[str, str]


@dataclass
class Server:
    """A running server; `log` is the file with its output."""

    address: str
    process: ForkedProcess | subprocess.Popen[bytes]
    log: Path
    browser: OpenerDirector = field(default_factory=lambda: build_opener(HTTPCookieProcessor(CookieJar())))

    def get(self, path: str, form: dict[str, str] | None = None, timeout: float = LONG) -> Page:
        """Return the page at `path` after redirects, also an error page; post `form` if it is given."""
        data = urlencode(form).encode() if form else None
        try:
            answer = self.browser.open(self.address + path, data, timeout)
        except HTTPError as error:
            answer = error
        with answer:
            return Page(answer.status, answer.read().decode(), answer.url, dict(answer.headers))

    def token(self) -> str:
        """Return the CSRF token of this browser."""
        return re.search(r'name="csrf_token" value="([^"]+)"', self.get("/").text)[1]

    def send(self, token: str, claim: str = CLAIM) -> Page:
        """Post the claim form."""
        return self.get("/runs", {"csrf_token": token, "claim": claim})

    def start(self, claim: str = CLAIM) -> str:
        """Start a run and return the path of its page."""
        page = self.send(self.token(), claim)
        assert page.status == 200 and "/runs/" in page.url, page
        return page.url.removeprefix(self.address)

    def wait_for(self, path: str, words: str, seconds: float = LONG) -> str:
        """Wait until the page contains `words` and return its text."""
        return until(lambda: words in (text := self.get(path).text) and text, f"{words!r} on {path}", seconds)

    def said(self) -> str:
        """Return the log so far."""
        return self.log.read_text(errors="replace")


@contextmanager
def serving(
    instance: Path, app: str | None = SCRIPTED, root: Path = ROOT, forked: bool = True, **environment: str
) -> Iterator[Server]:
    """Start a server on `instance`, yield it once it answers, and stop it at the end. `app` None is the product's."""
    port = free_port()
    given = surroundings(instance, PORT=str(port), **environment)
    log = instance.with_name(f"{instance.name}-{port}.log")
    process = run(["gunicorn", *([app] if app else [])], root, given, log, forked and root == ROOT)
    server = Server(f"http://127.0.0.1:{port}", process, log)
    try:
        until(lambda: answers(server), "an answer of the server", START_SECONDS)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(LONG)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(LONG)


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path, forked: bool = True
) -> ForkedProcess | subprocess.Popen[bytes]:
    """Start `python -m COMMAND`, as a fork unless what is imported differs."""
    if forked:
        return ForkedProcess(command, folder, environment, log)
    with log.open("wb") as file:
        return subprocess.Popen([sys.executable, "-m", *command], cwd=folder, env=environment, stdout=file, stderr=file)


def surroundings(instance: Path, **more: str) -> dict[str, str]:
    """Return the environment of an operator who set only these variables."""
    fixed = {"INSTANCE": str(instance), "HOST": "127.0.0.1", "OMP_NUM_THREADS": "1", "RATE_LIMIT": "9999 per minute"}
    return {**os.environ, **fixed, **more}


def flask(instance: Path, *arguments: str, app: str = "app") -> subprocess.CompletedProcess[str]:
    """Run `flask --app APP ...` on `instance`."""
    command = [sys.executable, "-m", "flask", "--app", app, *arguments]
    given = surroundings(instance)
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=2 * LONG)


def answers(server: Server) -> bool:
    assert server.process.poll() is None, server.said()
    try:
        return server.get("/healthz", timeout=LONG).status == 200
    except OSError:  # not listening yet
        return False


def run_id(path: str) -> str:
    return path.rpartition("/")[2]


def asked(instance: Path, statement: str, *values: object) -> list[tuple]:
    """Return the rows of a query on a read-only connection."""
    with closing(sqlite3.connect(f"file:{instance / DATABASE}?mode=ro", uri=True, timeout=LONG)) as database:
        return database.execute(statement, values).fetchall()


def events(instance: Path, run: str) -> list[str]:
    """Return the kinds of a run's events in order, and check that they are numbered without gaps."""
    rows = asked(instance, "select seq, kind, body from events where run_id = ? order by seq", run)
    assert [seq for seq, _, _ in rows] == list(range(1, len(rows) + 1))
    assert all(json.loads(body) for _, _, body in rows)
    return [kind for _, kind, _ in rows]


def state(instance: Path, run: str) -> str:
    """ "running", "verdict", "failed" or "interrupted"."""
    return asked(instance, "select state from runs where id = ?", run)[0][0]


ENDS = ("verdict_reached", "run_failed", "run_interrupted")


def assert_sound(instance: Path) -> None:
    """Check that the database is intact and that each finished run has one terminal event, its last."""
    assert asked(instance, "pragma integrity_check") == [("ok",)]
    for run, recorded in asked(instance, "select id, state from runs"):
        kinds = events(instance, run)
        ends = [kind for kind in kinds if kind in ENDS]
        assert (len(ends), kinds[-1] in ENDS) == ((0, False) if recorded == "running" else (1, True)), (recorded, kinds)
        assert (recorded == "verdict") == ("verdict_reached" in kinds), (recorded, kinds)
