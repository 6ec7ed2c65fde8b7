"""The visitors of a soak: some keep runs executing, some read pages, some follow runs and close the tab, some err."""

from __future__ import annotations

import http.client
import random
import re
import threading
import time
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from benchmarks.soak_table import Findings

TIMEOUT = 60.0
THINK_SECONDS = (0.1, 0.6)
"""What a reader waits between two pages."""

BAD = (
    ("GET", "/runs/there-is-no-such-run", 404),
    ("GET", "/nowhere", 404),
    ("GET", "/runs/../../etc/passwd", 404),
    ("DELETE", "/", 405),
    ("POST", "/runs", 400),
    ("GET", "/runs/there-is-no-such-run/events", 404),
)
"""Method, path and the status that is the right answer."""


class Unreachable(Exception):
    """The server did not answer, or not to the end."""


class World:
    """What all visitors share: where the server is, what was found, which runs there are, and whether it goes on."""

    def __init__(self, port: int, claims: list[str], found: Findings) -> None:
        self.port, self.claims, self.found = port, claims, found
        self.over, self.away = threading.Event(), threading.Event()
        self.running: set[str] = set()
        self.finished: list[str] = []
        self.on_end: Callable[[], None] = lambda: None
        self._next_claim = 0
        self._lock = threading.Lock()

    def claim(self) -> str:
        """The next claim of the file, round and round."""
        with self._lock:
            self._next_claim += 1
            return self.claims[(self._next_claim - 1) % len(self.claims)]


class Visitor:
    """A browser with its cookie. `act` is one thing it does; it does it until the world is over."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.random = world, random.Random(seed)
        self._cookie = ""

    def live(self) -> None:
        """Until it is over. While the server is away on purpose, its silence is nobody's error."""
        while not self.world.over.is_set():
            was_away = self.world.away.is_set()
            try:
                self.act()
            except Unreachable as error:
                if not (was_away or self.world.away.is_set()):
                    self.world.found.went_wrong(type(self).__name__.lower(), str(error))
                time.sleep(0.5)

    def act(self) -> None:
        raise NotImplementedError

    def ask(self, kind: str, method: str, path: str, wanted: int = 200, form: dict[str, str] | None = None) -> str:
        """The body of the answer, or its Location; its time and any other status go to the findings."""
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.world.port, timeout=TIMEOUT)
        try:
            reply = self._send(connection, method, path, form)
            body = reply.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{kind}: {type(error).__name__}") from error
        finally:
            connection.close()
        if reply.status == wanted:
            self.world.found.answered(kind, (time.monotonic() - started) * 1000)
        elif not self.world.away.is_set():
            self.world.found.went_wrong(kind, f"status {reply.status}")
        return reply.headers.get("Location", body)

    def follow(self, run_id: str, seconds: float) -> bool:
        """Read the run's stream until it ends (True) or for so long; the time to its first line is in the findings."""
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.world.port, timeout=TIMEOUT)
        try:
            reply = self._send(connection, "GET", f"/runs/{run_id}/events", None)
            line = reply.readline()
            self.world.found.answered("stream, first line", (time.monotonic() - started) * 1000)
            while line and time.monotonic() - started < seconds and not self.world.over.is_set():
                if line.strip() == b"event: end":
                    return True
                line = reply.readline()
            return False
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"stream: {type(error).__name__}") from error
        finally:
            connection.close()

    def think(self) -> None:
        self.world.over.wait(self.random.uniform(*THINK_SECONDS))

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, form: dict[str, str] | None
    ) -> http.client.HTTPResponse:
        body = urlencode(form) if form is not None else None
        headers = {"Cookie": self._cookie} | ({"Content-Type": "application/x-www-form-urlencoded"} if form else {})
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        if cookie := reply.headers.get("Set-Cookie"):
            self._cookie = cookie.partition(";")[0]
        return reply


class Checker(Visitor):
    """Has one run executing all the time: starts one, follows it to its end, looks at the verdict, starts the next."""

    def act(self) -> None:
        home = self.ask("home", "GET", "/")
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', home)
        form = {"csrf_token": token[1] if token else "", "claim": self.world.claim()}
        asked = time.monotonic()
        started = re.fullmatch(r"/runs/([\w-]+)", urlsplit(self.ask("start a run", "POST", "/runs", 303, form)).path)
        if not started:
            return self.think()
        run_id = started[1]
        self.world.running.add(run_id)
        try:
            self._see_to_the_end(run_id)
        finally:
            self.world.running.discard(run_id)
        if not self.world.over.is_set():
            self.world.found.run_ended(time.monotonic() - asked)
            self.world.finished.append(run_id)
            self.world.on_end()
            self.ask("finished run", "GET", f"/runs/{run_id}")

    def _see_to_the_end(self, run_id: str) -> None:
        while not self.world.over.is_set():
            try:
                if self.follow(run_id, TIMEOUT):
                    return
            except Unreachable:
                if not self.world.away.is_set():
                    self.world.found.went_wrong("stream", "cut off")
            time.sleep(0.2)


class Reader(Visitor):
    """Reads one page after the other."""

    def act(self) -> None:
        kind = self.random.choice(("home", "finished run", "running run", "running run", "how it works", "static file"))
        if path := self._path(kind):
            self.ask(kind, "GET", path)
        self.think()

    def _path(self, kind: str) -> str | None:
        world = self.world
        if kind in ("finished run", "running run"):
            runs = world.finished[-50:] if kind == "finished run" else sorted(world.running)
            return f"/runs/{self.random.choice(runs)}" if runs else None
        return {"home": "/", "how it works": "/how-it-works"}.get(kind, "/static/" + self.random.choice(STATIC))


STATIC = ("style.css", "app.js", "icon.svg", "vendor/htmx-2.0.11.min.js")


class Follower(Visitor):
    """Opens a running check; half of the time it closes the tab before the end."""

    def act(self) -> None:
        if running := sorted(self.world.running):
            run_id = self.random.choice(running)
            self.ask("running run", "GET", f"/runs/{run_id}")
            self.follow(run_id, self.random.choice((self.random.uniform(0.2, 3.0), TIMEOUT)))
        self.think()


class Blunderer(Visitor):
    """Asks for what there is not, and in ways that there are not."""

    def act(self) -> None:
        method, path, wanted = self.random.choice(BAD)
        self.ask("bad request", method, path, wanted, {"claim": ""} if method == "POST" else None)
        self.think()
