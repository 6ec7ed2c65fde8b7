"""The search engines that an operator has set up."""

from __future__ import annotations

from urllib.parse import urlsplit

from app.backends.web_search.brave import Brave
from app.backends.web_search.provider import Provider
from app.backends.web_search.searching import Searching
from app.backends.web_search.searxng import Searxng
from app.backends.web_search.serper import Serper
from app.backends.web_search.tavily import Tavily
from app.domain.errors import SettingsError

PROVIDERS: tuple[type[Searxng] | type[Brave] | type[Tavily] | type[Serper], ...] = (Searxng, Brave, Tavily, Serper)
"""All that there are, each with its `name`, its `title`, and the `setting` that sets it up."""


def configured(
    searxng_url: str | None,
    brave_api_key: str | None,
    tavily_api_key: str | None,
    serper_api_key: str | None,
    call_seconds: float,
) -> tuple[Searching, ...]:
    """One for each setting that is set: an operator's own SearXNG first, for it tells nobody else who asks.

    Raises SettingsError for an address that cannot be one. Keys are looked at when they are used.
    """
    providers: tuple[Provider | None, ...] = (
        Searxng(_address(searxng_url)) if searxng_url else None,
        Brave(brave_api_key) if brave_api_key else None,
        Tavily(tavily_api_key) if tavily_api_key else None,
        Serper(serper_api_key) if serper_api_key else None,
    )
    return tuple(Searching(provider, call_seconds) for provider in providers if provider)


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError("SEARXNG_URL must be a URL like http://127.0.0.1:8080, without a password in it")
    return url
