"""BM25 over a corpus, by Pyserini (Lucene): building the index once, and searching it.

An index is a folder of Lucene's files with a manifest beside them. It is built under another name and renamed when
it is whole, and its manifest holds a checksum of every file, so a half-built or damaged index is never searched.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from app.backends import jvm
from app.backends.corpora import Article, Corpus
from app.reasoning.errors import CallFailed, ModelUnavailable
from app.reasoning.progress import entered
from app.reasoning.types import Origin, Passage

log = logging.getLogger(__name__)

MANIFEST = "manifest.json"
LAYOUT = 2
"""Bump it when what is indexed changes, and every index is built anew."""
MEND = "make corpus"
BATCH = 1000
TITLE_WEIGHT = 0.3
"""What a match in the title alone adds to one in title and text together; measured in docs/retrieval.md."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index was made of, and with what."""

    corpus: str
    source: str
    count: int
    source_checksum: str
    index_checksum: str
    pyserini: str
    layout: int = LAYOUT

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest in `folder`. Raises ModelUnavailable when it is missing or damaged."""
        try:
            return cls(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise ModelUnavailable(f"The index of the corpus {folder.name} is missing", mend=MEND) from None
        except (OSError, ValueError, TypeError) as error:
            raise ModelUnavailable(f"The index of the corpus {folder.name} is damaged", mend=MEND) from error


@dataclass(frozen=True, slots=True)
class Java:
    """Which Java to start and with how much heap."""

    home: Path | None = None
    memory: str = "512m"


def build_index(corpus: Corpus, target: Path, java: Java = Java(), progress: Progress = log.info) -> Manifest:
    """Index every article of `corpus` and put the index at `target`, over whatever was there; its manifest.

    `progress` gets a line for people a few times. Raises ModelUnavailable when the corpus or Java is missing.
    """
    articles = corpus.articles()
    progress("starting Java")
    lucene = jvm.start(java.home, java.memory)
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    _write(lucene, articles, partial, progress)
    manifest = Manifest(
        corpus=corpus.name,
        source=corpus.source,
        count=len(articles),
        source_checksum=corpus.checksum(),
        index_checksum=checksum(partial),
        pyserini=lucene.version,
    )
    (partial / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    return manifest


def is_current(corpus: Corpus, target: Path) -> bool:
    """Whether the index at `target` is whole and made from the corpus as it is installed, by the Pyserini that is."""
    try:
        manifest = checked(target)
    except ModelUnavailable:
        return False
    return manifest.source_checksum == corpus.checksum() and manifest.pyserini == version("pyserini")


def checked(folder: Path) -> Manifest:
    """The manifest of a whole index of this layout. Raises ModelUnavailable and says what is wrong otherwise."""
    manifest = Manifest.read(folder)
    if manifest.layout != LAYOUT:
        raise ModelUnavailable(f"The index of the corpus {folder.name} is of another version of Hopcheck", mend=MEND)
    if checksum(folder) != manifest.index_checksum:
        raise ModelUnavailable(f"The index of the corpus {folder.name} is damaged", mend=MEND)
    return manifest


def checksum(folder: Path) -> str:
    """SHA-256 over the names and the bytes of Lucene's files in `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.name not in (MANIFEST, "write.lock"):
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _write(lucene: jvm.Pyserini, articles: Sequence[Article], folder: Path, progress: Progress) -> None:
    options = ["-index", str(folder), "-storeRaw", "-fields", "title", "-generator", "DefaultLuceneDocumentGenerator"]
    indexer = lucene.index.LuceneIndexer(str(folder), args=options, threads=1)
    try:
        for start in range(0, len(articles), BATCH):
            indexer.add_batch_raw([_document(article) for article in articles[start : start + BATCH]])
            progress(f"indexed {min(start + BATCH, len(articles)):,} of {len(articles):,} passages")
    finally:
        indexer.close()


def _document(article: Article) -> str:
    """One article as Pyserini's JSON. Searched are `contents`, the title and the text, and `title` once more."""
    return json.dumps(
        {
            "id": article.id,
            "contents": f"{article.title}\n{article.text}",
            "title": article.title,
            "text": article.text,
            "url": article.url,
        }
    )


class Bm25Retriever:
    """A Retriever over the index in `folder`. Opened at the first search; threads may search at once and take turns."""

    def __init__(self, folder: Path, java: Java = Java()) -> None:
        self._folder = folder
        self._java = java
        self._lock = threading.Lock()
        self._opened: tuple[Manifest, Any] | None = None

    def retrieve(self, query: str, k: int) -> tuple[Passage, ...]:
        """The k best passages for the words of `query`, best first; none when no passage has any of them.

        Raises ModelUnavailable when the index or Java is missing or damaged.
        """
        manifest, searcher = self.open()
        if k < 1:
            return ()
        entered(f"searching {manifest.count:,} passages")
        try:
            # A lone surrogate is no character; everything else goes to Lucene's analyser, which has no syntax to break.
            words = query.encode("utf-8", "replace").decode()
            # Lucene minds no threads, but pyjnius hands out half-made objects when several of them ask it at once.
            with self._lock:
                hits = searcher.search(words, k=k, fields={"contents": 1.0, "title": TITLE_WEIGHT})
                return tuple(_passage(hit, manifest.source) for hit in hits)
        except Exception as error:  # pyjnius wraps any Java exception in its own
            log.exception("BM25 search failed")
            raise CallFailed(f"The search failed ({type(error).__name__})") from error

    def open(self) -> tuple[Manifest, Any]:
        """Check the index and open it, once; for warming up. Takes seconds where it starts the JVM."""
        with self._lock:
            if self._opened is None:
                manifest = checked(self._folder)
                entered("starting the search engine")
                lucene = jvm.start(self._java.home, self._java.memory)
                self._opened = manifest, self._searcher(lucene)
            return self._opened

    def _searcher(self, lucene: jvm.Pyserini) -> Any:
        try:
            searcher = lucene.search.LuceneSearcher(str(self._folder))
            searcher.search("warm", k=1)
        except Exception as error:
            raise ModelUnavailable(f"The index of the corpus {self._folder.name} is damaged", mend=MEND) from error
        return searcher


def _passage(hit: Any, source: str) -> Passage:
    row = json.loads(hit.lucene_document.get("raw"))
    return Passage(
        text=row["text"],
        title=row["title"],
        source=source,
        url=row["url"],
        origin=Origin.CORPUS,
        score=float(hit.score),
    )
