"""The visitors of a soak test: checkers, readers, followers who close the tab early, and one with invalid requests."""

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
"""Pause of a visitor between two pages."""

INVALID_REQUESTS = (
    ("GET", "/runs/there-is-no-such-run", 404),
    ("GET", "/nowhere", 404),
    ("GET", "/runs/../../etc/passwd", 404),
    ("DELETE", "/", 405),
    ("POST", "/runs", 400),
    ("GET", "/runs/there-is-no-such-run/events", 404),
)
"""Method, path and expected status."""


class Unreachable(Exception):
    """The server did not send a complete response."""


class Shared:
    """What all visitors share: the server's port, the claims, the measurements, the runs, and when to stop."""

    def __init__(self, port: int, claims: list[str], found: Findings) -> None:
        self.port, self.claims, self.found = port, claims, found
        self.stop, self.restarting = threading.Event(), threading.Event()
        self.running: set[str] = set()
        self.finished: list[str] = []
        self.after_run: Callable[[], None] = lambda: None
        self._next_claim = 0
        self._lock = threading.Lock()

    def next_claim(self) -> str:
        """Return the next claim of the file, from the first again after the last."""
        with self._lock:
            self._next_claim += 1
            return self.claims[(self._next_claim - 1) % len(self.claims)]


class Visitor:
    """A browser with its cookie, which repeats `act` until the test stops."""

    def __init__(self, shared: Shared, seed: int) -> None:
        self.shared, self.random = shared, random.Random(seed)
        self._cookie = ""

    def run(self) -> None:
        """Repeat `act` until the test stops; failures during the deliberate restart are not recorded."""
        while not self.shared.stop.is_set():
            was_restarting = self.shared.restarting.is_set()
            try:
                self.act()
            except Unreachable as error:
                if not (was_restarting or self.shared.restarting.is_set()):
                    self.shared.found.record_error(type(self).__name__.lower(), str(error))
                time.sleep(0.5)

    def act(self) -> None:
        raise NotImplementedError

    def request(
        self, kind: str, method: str, path: str, expected: int = 200, form: dict[str, str] | None = None
    ) -> str:
        """Return the response's Location or else its body; record its time, or another status as an error."""
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.shared.port, timeout=TIMEOUT)
        try:
            reply = self._send(connection, method, path, form)
            body = reply.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{kind}: {type(error).__name__}") from error
        finally:
            connection.close()
        if reply.status == expected:
            self.shared.found.record_time(kind, (time.monotonic() - started) * 1000)
        elif not self.shared.restarting.is_set():
            self.shared.found.record_error(kind, f"status {reply.status}")
        return reply.headers.get("Location", body)

    def follow(self, run_id: str, seconds: float) -> bool:
        """Read the run's stream for at most `seconds`; return whether it ended. Records the time to its first line."""
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.shared.port, timeout=TIMEOUT)
        try:
            reply = self._send(connection, "GET", f"/runs/{run_id}/events", None)
            line = reply.readline()
            self.shared.found.record_time("stream, first line", (time.monotonic() - started) * 1000)
            while line and time.monotonic() - started < seconds and not self.shared.stop.is_set():
                if line.strip() == b"event: end":
                    return True
                line = reply.readline()
            return False
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"stream: {type(error).__name__}") from error
        finally:
            connection.close()

    def pause(self) -> None:
        self.shared.stop.wait(self.random.uniform(*THINK_SECONDS))

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
    """Checks one claim after the other: starts a run, follows it to its end, and opens its page."""

    def act(self) -> None:
        home = self.request("home", "GET", "/")
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', home)
        form = {"csrf_token": token[1] if token else "", "claim": self.shared.next_claim()}
        started = time.monotonic()
        location = self.request("start a run", "POST", "/runs", 303, form)
        found = re.fullmatch(r"/runs/([\w-]+)", urlsplit(location).path)
        if not found:
            return self.pause()
        run_id = found[1]
        self.shared.running.add(run_id)
        try:
            self._follow_to_end(run_id)
        finally:
            self.shared.running.discard(run_id)
        if not self.shared.stop.is_set():
            self.shared.found.record_run(time.monotonic() - started)
            self.shared.finished.append(run_id)
            self.shared.after_run()
            self.request("finished run", "GET", f"/runs/{run_id}")

    def _follow_to_end(self, run_id: str) -> None:
        while not self.shared.stop.is_set():
            try:
                if self.follow(run_id, TIMEOUT):
                    return
            except Unreachable:
                if not self.shared.restarting.is_set():
                    self.shared.found.record_error("stream", "closed early")
            time.sleep(0.2)


class Reader(Visitor):
    """Reads one page after the other."""

    def act(self) -> None:
        kind = self.random.choice(("home", "finished run", "running run", "running run", "how it works", "static file"))
        if path := self._path(kind):
            self.request(kind, "GET", path)
        self.pause()

    def _path(self, kind: str) -> str | None:
        shared = self.shared
        if kind in ("finished run", "running run"):
            runs = shared.finished[-50:] if kind == "finished run" else sorted(shared.running)
            return f"/runs/{self.random.choice(runs)}" if runs else None
        return {"home": "/", "how it works": "/how-it-works"}.get(kind, "/static/" + self.random.choice(STATIC))


STATIC = ("style.css", "app.js", "icon.svg", "vendor/htmx-2.0.11.min.js")


class Follower(Visitor):
    """Follows running checks; half of the time it closes the tab before the end."""

    def act(self) -> None:
        if running := sorted(self.shared.running):
            run_id = self.random.choice(running)
            self.request("running run", "GET", f"/runs/{run_id}")
            self.follow(run_id, self.random.choice((self.random.uniform(0.2, 3.0), TIMEOUT)))
        self.pause()


class InvalidClient(Visitor):
    """Sends invalid requests."""

    def act(self) -> None:
        method, path, expected = self.random.choice(INVALID_REQUESTS)
        self.request("bad request", method, path, expected, {"claim": ""} if method == "POST" else None)
        self.pause()
