"""The configured search providers, tried in order."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from app.backends.web_search.base import Provider
from app.backends.web_search.brave import Brave
from app.backends.web_search.search import ProviderSearch
from app.backends.web_search.searxng import Searxng
from app.backends.web_search.serper import Serper
from app.backends.web_search.tavily import Tavily
from app.domain.errors import CallFailed, SettingsError
from app.domain.model import SearchHit
from app.domain.ports import WebSearch
from app.domain.progress import troubled

PROVIDERS: tuple[type[Searxng] | type[Brave] | type[Tavily] | type[Serper], ...] = (Searxng, Brave, Tavily, Serper)
"""Every supported provider."""


def configured_searches(
    searxng_url: str | None,
    brave_api_key: str | None,
    tavily_api_key: str | None,
    serper_api_key: str | None,
    call_seconds: float,
) -> tuple[ProviderSearch, ...]:
    """Return a search for each configured provider, the operator's own SearXNG first for privacy.

    Raises SettingsError for an invalid URL. Keys are checked when they are used.
    """
    providers: tuple[Provider | None, ...] = (
        Searxng(_address(searxng_url)) if searxng_url else None,
        Brave(brave_api_key) if brave_api_key else None,
        Tavily(tavily_api_key) if tavily_api_key else None,
        Serper(serper_api_key) if serper_api_key else None,
    )
    return tuple(ProviderSearch(provider, call_seconds) for provider in providers if provider)


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError("SEARXNG_URL must be a URL like http://127.0.0.1:8080, without a password in it")
    return url


log = logging.getLogger(__name__)

COOLDOWN_SECONDS = 300.0
"""Time for which a failed engine is tried last, so that a run does not wait for it at every hop."""


class FailoverSearch:
    """Implements `WebSearch` over several engines: tries the next one when one fails, and reports the failures.

    `name` is the first engine's; `destination` names every host that may receive a query.
    """

    def __init__(self, searches: Sequence[WebSearch], clock: Callable[[], float] = time.monotonic) -> None:
        """`searches` holds at least one; `clock` runs in seconds."""
        self.name = searches[0].name
        self.destination = " or ".join(dict.fromkeys(each.destination for each in searches if each.destination)) or None
        self._searches = tuple(searches)
        self._clock = clock
        self._failed: dict[int, float] = {}
        self._lock = threading.Lock()

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return the hits of the first engine that answers. Raises CallFailed with every reason when none does."""
        reasons = []
        order = self._order()
        for at in order:
            try:
                found = self._searches[at].search(query, k, before)
            except CallFailed as failure:
                reasons.append(str(failure))
                self._note(at, failed=True)
                log.warning("%s", failure)
                if at != order[-1]:
                    troubled(f"{failure} Another search engine was asked instead.")
            else:
                self._note(at, failed=False)
                return found
        raise CallFailed(" ".join(reasons))

    def _order(self) -> list[int]:
        """Return the engines' positions, those that failed recently last."""
        with self._lock:
            now = self._clock()
            resting = {at for at, since in self._failed.items() if now - since < COOLDOWN_SECONDS}
        return sorted(range(len(self._searches)), key=resting.__contains__)

    def _note(self, at: int, failed: bool) -> None:
        with self._lock:
            if failed:
                self._failed[at] = self._clock()
            else:
                self._failed.pop(at, None)


def with_failover(searches: Sequence[WebSearch]) -> dict[str, FailoverSearch]:
    """Map each engine's name to a search that tries it first and then the others."""
    return {
        first.name: FailoverSearch([first, *(each for each in searches if each is not first)]) for first in searches
    }
