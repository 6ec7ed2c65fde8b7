"""Check robots.txt (RFC 9309), cached in memory for an hour.

Uses Python's parser, which ignores `*` and `$` in paths: parsers that support them turn untrusted rules into regular
expressions, which can be made to backtrack without end.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from app.backends.fetch.safe_http import Budget, Fetched, GuardedHttp
from app.domain.errors import CallFailed

CACHE_SECONDS = 3600.0
MAX_SITES = 1000
DISALLOW_ALL = ("User-agent: *", "Disallow: /")
MAX_ROBOTS_BYTES = 1024**2
"""RFC 9309 requires parsers to read at least half of that."""


class RobotsCache:
    """Fetches and caches the rules of each site. Thread-safe."""

    def __init__(self, http: GuardedHttp, name: str, now: Callable[[], float] = time.monotonic) -> None:
        """`name` is the product token that robots.txt files use for this program."""
        self._http, self._name, self._now = http, name, now
        self._known: OrderedDict[str, tuple[float, RobotFileParser]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, url: str, budget: Budget) -> None:
        """Raise CallFailed if robots.txt disallows this page or cannot be read."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        rules = self._recalled(origin) or self._asked(origin, parts.hostname or "", budget)
        if not rules.can_fetch(self._name, url):
            raise CallFailed(f"{parts.hostname} asks that programs do not read this page (its robots.txt).")

    def _recalled(self, origin: str) -> RobotFileParser | None:
        with self._lock:
            since, rules = self._known.get(origin, (0.0, None))
            return rules if self._now() - since < CACHE_SECONDS else None

    def _asked(self, origin: str, host: str, budget: Budget) -> RobotFileParser:
        try:
            rules = _rules(self._http.get(f"{origin}/robots.txt", budget, limit=MAX_ROBOTS_BYTES), host)
        except CallFailed as error:
            raise CallFailed(f"What programs may read on {host} cannot be known: {error}") from error
        with self._lock:
            self._known[origin] = (self._now(), rules)
            self._known.move_to_end(origin)
            if len(self._known) > MAX_SITES:
                self._known.popitem(last=False)
        return rules


def _rules(reply: Fetched, host: str) -> RobotFileParser:
    """Parse a reply: 401 and 403 disallow everything, a missing file allows everything."""
    if reply.status == 429 or reply.status >= 500:
        raise CallFailed(f"{host} answers {reply.status} for its robots.txt.")
    rules = RobotFileParser()
    if reply.status == 200:
        rules.parse(reply.content.decode("utf-8-sig", "replace").splitlines())
    else:
        rules.parse(DISALLOW_ALL if reply.status in (401, 403) else ())
    return rules
