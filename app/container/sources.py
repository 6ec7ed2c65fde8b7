"""Search engines and page readers of the web answerer: remote engines, or the local corpora."""

from __future__ import annotations

from collections.abc import Sequence

from app.backends.corpus.registry import CorpusRegistry
from app.backends.corpus.search import CorpusPages, CorpusSearch
from app.backends.fetch.pages import WebPages
from app.backends.web_search.registry import configured_searches, with_failover
from app.backends.web_search.search import ProviderSearch
from app.capabilities.options import CORPUS_SEARCH
from app.config.settings import Settings
from app.domain.model import Origin, RunOptions
from app.domain.ports import PageReader, WebSearch


class SearchEngines:
    """One object per engine for the life of the process, since they hold connections and failure state."""

    def __init__(self, engines: Sequence[ProviderSearch], shelf: CorpusRegistry, robots: bool) -> None:
        """`robots`: whether to respect robots.txt."""
        self._in_turn = with_failover(engines)
        self._shelf = shelf
        self._pages = WebPages(robots=robots)

    def of(self, options: RunOptions) -> tuple[WebSearch, PageReader, Origin]:
        """Return the search engine, the page reader and the origin of passages for these options."""
        if options.search == CORPUS_SEARCH:
            corpora = [self._shelf.retriever(name) for name in options.corpora]
            return CorpusSearch(self._shelf.over(options.corpora)), CorpusPages(corpora), Origin.CORPUS
        return self._in_turn[options.search or ""], self._pages, Origin.WEB


def configured_engines(settings: Settings) -> tuple[ProviderSearch, ...]:
    """Return the search engines that have an address or a key."""
    return configured_searches(
        settings.searxng_url,
        settings.brave_api_key,
        settings.tavily_api_key,
        settings.serper_api_key,
        settings.call_seconds,
    )
