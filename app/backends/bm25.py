"""BM25 over a corpus, by Pyserini (Lucene): the Retriever over one index.

The index is opened at the first search. When its manifest has changed since, because the corpus was built again or
removed, the next search opens what is there now: a server needs no restart for it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from app.backends import jvm
from app.backends.corpus_hits import matching, passage_of, row_of
from app.backends.corpus_index import MANIFEST, Manifest, checked, mend_of
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.model import Passage
from app.domain.progress import entered

log = logging.getLogger(__name__)

TITLE_WEIGHT = 0.3
"""What a match in the title alone adds to one in title and text together; measured in docs/retrieval.md."""


LOOKED_AT = 20
"""So many rows are looked through for a passage whose own words are the query."""
QUERY_WORDS = 200
"""Lucene refuses a query of more than 1,024 words; so many find a passage."""
MOST_PASSAGES = 400
"""So much of a document is put together, about 40,000 words."""


@dataclass(frozen=True, slots=True)
class Java:
    """Which Java to start and with how much heap."""

    home: Path | None = None
    memory: str = "512m"


DEFAULT_JAVA = Java()


@dataclass(frozen=True, slots=True)
class Opened:
    """An open index; `stamp` tells whether the manifest is still the one that it was opened by."""

    stamp: tuple[int, int, int] | None
    manifest: Manifest
    searcher: Any


class Bm25Retriever:
    """A Retriever over the corpus in `folder`. Threads may search at once and take turns in Java's one thread."""

    def __init__(self, folder: Path, java: Java = DEFAULT_JAVA) -> None:
        self._folder = folder
        self._java = java
        self._opened: Opened | None = None

    def retrieve(self, query: str, k: int) -> tuple[Passage, ...]:
        """The k best passages for the words of `query`, best first; none when no passage has any of them.

        Raises ModelUnavailable when the index or Java is missing or damaged, CallFailed when a search takes too long.
        """
        manifest = self.open()
        if k < 1:
            return ()
        entered(f"searching {manifest.count:,} passages")
        # A lone surrogate is no character; everything else goes to Lucene's analyser, which has no syntax to break.
        words = query.encode("utf-8", "replace").decode()
        manifest, rows = jvm.turns.run(lambda: self._search(words, k))
        found = (passage_of(raw, score, manifest, words) for raw, score in rows)
        return tuple(passage for passage in found if passage.text)

    def article(self, title: str, text: str) -> str | None:
        """The whole text of the document that has this passage; None where the corpus has none that has it.

        Raises as `retrieve` does.
        """
        self.open()
        return jvm.turns.run(lambda: self._article(title, text.encode("utf-8", "replace").decode()))

    def open(self) -> Manifest:
        """Check the index and open it, once; for warming up. Takes seconds where it starts the JVM."""
        opened = self._opened
        if opened is not None and opened.stamp == _stamp(self._folder):
            return opened.manifest
        entered("opening the index")
        return jvm.turns.load(self._current).manifest

    def _search(self, words: str, k: int) -> tuple[Manifest, list[tuple[str, float]]]:
        """The k best rows as they were indexed, with their scores. In Java's thread, like all below."""
        opened = self._current()
        try:
            fields = {} if opened.manifest.kind == "prebuilt" else {"contents": 1.0, "title": TITLE_WEIGHT}
            hits = opened.searcher.search(words, k=k, fields=fields)
            return opened.manifest, [(hit.lucene_document.get("raw"), float(hit.score)) for hit in hits]
        except Exception as error:  # pyjnius wraps any Java exception in its own
            log.exception("BM25 search failed")
            raise CallFailed(f"The search failed ({type(error).__name__}).") from error

    def _article(self, title: str, text: str) -> str | None:
        manifest, rows = self._search(" ".join(f"{title} {text}".split()[:QUERY_WORDS]), LOOKED_AT)
        row = matching((row_of(raw, manifest) for raw, _ in rows), title, text)
        if row is None:
            return None
        if manifest.kind != "built":
            return row.text
        document, _, _ = row.id.rpartition("#")
        found = (self._current().searcher.doc(f"{document}#{number}") for number in range(1, MOST_PASSAGES + 1))
        return " ".join(row_of(each.raw(), manifest).text for each in takewhile(bool, found))

    def _current(self) -> Opened:
        """The index as it is there now; opened anew when its manifest is another than at the last look."""
        stamp = _stamp(self._folder)
        if self._opened is not None and self._opened.stamp != stamp:
            self._opened.searcher.close()
            self._opened = None
        if self._opened is None:
            self._opened = self._open(stamp)
        return self._opened

    def _open(self, stamp: tuple[int, int, int] | None) -> Opened:
        try:
            manifest = checked(self._folder)
            lucene = jvm.start(self._java.home, self._java.memory)
            return Opened(stamp, manifest, self._searcher(lucene, manifest))
        except ModelUnavailable:
            # A build may have put another index in place, and taken this one away, while it was being looked at.
            if (now := _stamp(self._folder)) != stamp:
                return self._open(now)
            raise

    def _searcher(self, lucene: jvm.Pyserini, manifest: Manifest) -> Any:
        try:
            searcher = lucene.search.LuceneSearcher(str(self._folder / manifest.index))
            searcher.search("warm", k=1)
        except Exception as error:
            name = self._folder.name
            raise ModelUnavailable(f"The index of the corpus {name} is damaged", mend_of(name)) from error
        return searcher


def _stamp(folder: Path) -> tuple[int, int, int] | None:
    try:
        found = (folder / MANIFEST).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
