"""What web-search searches and opens: engines behind a key or an address, or the corpora of this machine."""

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
    """One object for each engine for the life of the process: they hold connections, and remember what failed."""

    def __init__(self, engines: Sequence[ProviderSearch], shelf: CorpusRegistry, robots: bool) -> None:
        """`robots` says whether pages are left alone that their site's robots.txt keeps from us."""
        self._in_turn = with_failover(engines)
        self._shelf = shelf
        self._pages = WebPages(robots=robots)

    def of(self, options: RunOptions) -> tuple[WebSearch, PageReader, Origin]:
        """What a run with these options searches, what opens what was found, and where that is from."""
        if options.search == CORPUS_SEARCH:
            corpora = [self._shelf.retriever(name) for name in options.corpora]
            return CorpusSearch(self._shelf.over(options.corpora)), CorpusPages(corpora), Origin.CORPUS
        return self._in_turn[options.search or ""], self._pages, Origin.WEB


def configured_engines(settings: Settings) -> tuple[ProviderSearch, ...]:
    """The search engines that have an address or a key."""
    return configured_searches(
        settings.searxng_url,
        settings.brave_api_key,
        settings.tavily_api_key,
        settings.serper_api_key,
        settings.call_seconds,
    )
