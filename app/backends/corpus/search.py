"""Search and read installed corpora through the ports for web search, without network access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.domain.errors import CallFailed
from app.domain.model import Page, SearchHit
from app.domain.ports import Retriever

NAME = "corpus"
PASSAGES_PER_HIT = 3
"""Passages retrieved per hit, since several may be from the same document."""


class CorpusSearch:
    """Implements `WebSearch` over a retriever. The site of a hit is its corpus with its licence, the snippet a passage.

    Documents of a corpus are undated, so `before` excludes none of them. The URL is "" where the corpus has none.
    """

    destination: str | None = None

    def __init__(self, retriever: Retriever, name: str = NAME) -> None:
        self.name = name
        self._retriever = retriever

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return the `k` best documents, each ranked by its best passage. Raises what the retriever raises."""
        found: dict[tuple[str, str, str | None], SearchHit] = {}
        for each in self._retriever.retrieve(query, k * PASSAGES_PER_HIT):
            hit = SearchHit(each.title, each.source, each.text, each.url or "", each.published)
            found.setdefault((each.title, each.source, each.url), hit)
        return tuple(found.values())[: max(k, 0)]


class ArticleSource(Protocol):
    """Returns the whole document of a passage."""

    def article(self, title: str, text: str) -> str | None: ...


class CorpusPages:
    """Implements `PageReader` over the corpora that a `CorpusSearch` searches, in the same order."""

    def __init__(self, corpora: Sequence[ArticleSource]) -> None:
        self._corpora = tuple(corpora)

    def read(self, hit: SearchHit) -> Page:
        """Return the whole article of the hit's passage. Raises CallFailed if no corpus has it any more."""
        for corpus in self._corpora:
            text = corpus.article(hit.title, hit.snippet)
            if text:
                return Page(hit.url, hit.title, hit.site, text, hit.published)
        raise CallFailed(f"The article {hit.title} is not in the corpus.")
