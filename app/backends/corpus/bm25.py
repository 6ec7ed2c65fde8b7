"""BM25 retrieval over one corpus index with Pyserini (Lucene).

The index is opened at the first search, and reopened when its manifest has changed because the corpus was rebuilt or
removed, so a server needs no restart.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from app.backends.corpus import jvm
from app.backends.corpus.index import MANIFEST, Manifest, read_verified
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Origin, Passage

MIN_WORD_OVERLAP = 0.9
"""Share of a passage's words that a row must contain to be the passage's source."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A passage of an index; `id` is "DOCUMENT#NUMBER"."""

    id: str
    title: str
    text: str
    url: str | None = None
    described: int = 0


def row_of(raw: str | None, corpus: str) -> IndexRow:
    """Return a row from its stored JSON. Raises CallFailed when that is missing or invalid."""
    try:
        row = json.loads(raw or "")
        title, text = row["title"], row["contents"].removeprefix(f"{row['title']}\n")
        address = url if isinstance(url := row.get("url"), str) else None
        return IndexRow(str(row["id"]), title, text, address, int(row.get("described", 0)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CallFailed(f"The corpus {corpus} holds a passage that cannot be read.") from error


def matching(rows: Iterable[IndexRow], title: str, text: str, url: str) -> IndexRow | None:
    """Return the first of `rows` with this title and address and nearly all words of `text`.

    `text` may be cut or cleaned; `url` is "" for a row without an address.
    """
    named, wanted = _words(title), _words(text)
    for row in rows:
        is_named = (row.url or "") == url and _words(row.title) == named
        if is_named and len(wanted & _words(row.text)) >= MIN_WORD_OVERLAP * len(wanted):
            return row
    return None


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


log = logging.getLogger(__name__)

TITLE_WEIGHT = 0.3
"""Weight of a match in the title, added to the match in title and text (research/notes/2026-11-22-retrieval.md)."""

MAX_CANDIDATE_ROWS = 20
"""Rows searched for a passage, with its own words as the query."""
MAX_QUERY_WORDS = 200
"""Enough to find a passage; Lucene rejects queries of more than 1,024 words."""
MAX_ARTICLE_PASSAGES = 400
"""Limit of an article's passages, about 40,000 words."""


@dataclass(frozen=True, slots=True)
class Java:
    """The Java home to use and the JVM's heap size."""

    home: Path | None = None
    memory: str = jvm.DEFAULT_MEMORY


DEFAULT_JAVA = Java()


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An open index; `stamp` identifies the manifest with which it was opened."""

    stamp: tuple[int, int, int] | None
    manifest: Manifest
    searcher: Any


class Bm25Retriever:
    """Implements `Retriever` over the corpus in `folder`. Thread-safe; searches run in Java's one thread."""

    def __init__(self, folder: Path, java: Java = DEFAULT_JAVA) -> None:
        self._folder = folder
        self._java = java
        self._opened: OpenIndex | None = None

    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]:
        """Return the k best passages for the words of `query`, best first; none when no passage has any of them.

        The texts have no dates, so `before` leaves out none of them.

        Raises ModelUnavailable when the index or Java is missing or damaged, CallFailed when a search fails or takes
        too long.
        """
        manifest = self.open()
        if k < 1:
            return ()
        report_phase(Code.SEARCHING_PASSAGES(count=manifest.count, kind="passages"))
        # A lone surrogate is not a character. Everything else is safe: Lucene's analyser has no query syntax.
        words = query.encode("utf-8", "replace").decode()
        manifest, rows = jvm.java_queue.run(lambda: self._search(words, k))
        found = ((row_of(raw, manifest.corpus), score) for raw, score in rows)
        return tuple(
            Passage(row.text, row.title, manifest.named_source, row.url, None, Origin.CORPUS, score, row.described)
            for row, score in found
            if row.text
        )

    def article(self, title: str, text: str, url: str) -> str | None:
        """Return the text of this passage's document, None if no document has it. Raises as `retrieve` does."""
        self.open()
        return jvm.java_queue.run(lambda: self._article(title, text.encode("utf-8", "replace").decode(), url))

    def open(self) -> Manifest:
        """Check and open the index once, to warm up. Takes seconds if it starts the JVM."""
        opened = self._opened
        if opened is not None and opened.stamp == _stamp(self._folder):
            return opened.manifest
        report_phase(Code.OPENING_INDEX())
        return jvm.java_queue.load(self._current).manifest

    def _search(self, words: str, k: int) -> tuple[Manifest, list[tuple[str, float]]]:
        """Return the k best rows as indexed, with their scores. Runs in Java's thread, like the methods below."""
        opened = self._current()
        try:
            hits = opened.searcher.search(words, k=k, fields={"contents": 1.0, "title": TITLE_WEIGHT})
            return opened.manifest, [(hit.lucene_document.get("raw"), float(hit.score)) for hit in hits]
        except Exception as error:  # pyjnius wraps any Java exception in its own
            log.exception("BM25 search failed")
            raise CallFailed(f"The search failed ({type(error).__name__}).") from error

    def _article(self, title: str, text: str, url: str) -> str | None:
        manifest, rows = self._search(" ".join(f"{title} {text}".split()[:MAX_QUERY_WORDS]), MAX_CANDIDATE_ROWS)
        row = matching((row_of(raw, manifest.corpus) for raw, _ in rows), title, text, url)
        if row is None:
            return None
        if manifest.kind == "built-in":  # an article is one passage
            return row.text
        document, _, _ = row.id.rpartition("#")
        found = (self._current().searcher.doc(f"{document}#{number}") for number in range(1, MAX_ARTICLE_PASSAGES + 1))
        return " ".join(row_of(each.raw(), manifest.corpus).text for each in takewhile(bool, found))

    def _current(self) -> OpenIndex:
        """Return the current index, reopened if its manifest has changed since the last call."""
        stamp = _stamp(self._folder)
        if self._opened is not None and self._opened.stamp != stamp:
            self._opened.searcher.close()
            self._opened = None
        if self._opened is None:
            self._opened = self._open(stamp)
        return self._opened

    def _open(self, stamp: tuple[int, int, int] | None) -> OpenIndex:
        try:
            manifest = read_verified(self._folder)
            lucene = jvm.start(self._java.home, self._java.memory)
            try:
                searcher = lucene.search.LuceneSearcher(str(self._folder / manifest.index))
                searcher.search("warm", k=1)
            except Exception as error:
                message = f"The index of the corpus {self._folder.name} is damaged"
                raise ModelUnavailable(message, manifest.fix) from error
            return OpenIndex(stamp, manifest, searcher)
        except ModelUnavailable:
            # A build may have replaced and removed this index while it was being opened.
            if (now := _stamp(self._folder)) != stamp:
                return self._open(now)
            raise


def _stamp(folder: Path) -> tuple[int, int, int] | None:
    try:
        found = (folder / MANIFEST).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
