"""Search any of the four providers at a test server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from app.backends.http import RetryPolicy
from app.backends.web_search.base import Provider
from app.backends.web_search.brave import Brave
from app.backends.web_search.registry import ProviderSearch
from app.backends.web_search.searxng import Searxng
from app.backends.web_search.serper import Serper
from app.backends.web_search.tavily import Tavily
from app.domain.errors import CallFailed
from tests.backends.web_search.search_server import (
    KEY,
    Said,
    SearchServer,
    brave_reply,
    searxng_reply,
    serper_reply,
    tavily_reply,
)

TODAY = date(2026, 11, 22)
HAMLET = Said("Hamlet", "https://www.example.org/hamlet", "Shakespeare wrote it.")


def provider_at(name: str, server: SearchServer, key: str = KEY) -> Provider:
    """Return that provider with the server's URL in place of its own."""
    keyed = {"brave": Brave, "tavily": Tavily, "serper": Serper}
    return keyed[name](key, server.url) if name in keyed else Searxng(server.url)


REPLIES: dict[str, Callable[..., dict[str, Any]]] = {
    "searxng": searxng_reply,
    "brave": brave_reply,
    "tavily": tavily_reply,
    "serper": serper_reply,
}
ALL = tuple(REPLIES)
KEYED = ("brave", "tavily", "serper")


def searching(
    name: str, server: SearchServer, *, seconds: float = 10, sleeps: list[float] | None = None, key: str = KEY
) -> ProviderSearch:
    """Return a search that does not really sleep between retries; `sleeps` collects the waits."""
    kept = [] if sleeps is None else sleeps
    retry_policy = RetryPolicy(sleep=kept.append, jitter=lambda: 1.0)
    return ProviderSearch(provider_at(name, server, key), seconds, retry_policy, lambda: TODAY)


def failure(search: ProviderSearch) -> str:
    """Return the message of the failed search."""
    with pytest.raises(CallFailed) as caught:
        search.search("Who wrote Hamlet?", 10)
    return str(caught.value)
