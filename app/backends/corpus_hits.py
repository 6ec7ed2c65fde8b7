"""What an index keeps of a passage, read back: Hopcheck's own rows, and those of Pyserini's prebuilt indexes.

Prebuilt indexes keep whole documents in one of two ways: `contents` with the title as its first line (KILT, DPR), or
`title` and `text` apart (BEIR). A long document is cut here, and the passage that fits the query best stands for it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.backends.corpus_index import Manifest
from app.backends.corpus_passages import passages_of, title_and_text
from app.domain.errors import CallFailed
from app.domain.model import Origin, Passage

LONGEST_DOCUMENT = 40_000
"""Characters of a prebuilt document that are looked at: cutting takes half a second for a million of them."""

NEARLY_ALL = 0.9

_KILT_MARK = re.compile(r"^\s*(Section::::|BULLET::::-?)\s*", re.MULTILINE)


def passage_of(raw: str | None, score: float, manifest: Manifest, query: str) -> Passage:
    """The Passage of one hit, given the JSON that the index keeps. Raises CallFailed when it keeps none or another."""
    try:
        row = json.loads(raw or "")
        title, text = _built(row) if manifest.kind != "prebuilt" else _prebuilt(row, query)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CallFailed(f"The corpus {manifest.corpus} holds a passage that cannot be read.") from error
    url = row.get("url")
    return Passage(
        text, title, manifest.named_source, url if isinstance(url, str) else None, None, Origin.CORPUS, score
    )


def _built(row: dict[str, str]) -> tuple[str, str]:
    return row["title"], row["contents"].removeprefix(f"{row['title']}\n")


def _prebuilt(row: dict[str, str], query: str) -> tuple[str, str]:
    title, passages = _cut(row)
    return title, best_passage(passages, query)


def _cut(row: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """The title of a prebuilt index's document, and its passages."""
    title, text = title_and_text(row.get("title") or "", row.get("text") or row.get("contents") or "")
    paragraphs = _KILT_MARK.sub("", text[:LONGEST_DOCUMENT]).splitlines()
    return title or str(row["id"]), tuple(passages_of(paragraphs))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an index: of a document by the name of `id`, of which `text` is all that the row holds."""

    id: str
    title: str
    text: str


def row_of(raw: str | None, manifest: Manifest) -> Row:
    """What a row holds, given the JSON that the index keeps. Raises CallFailed as `passage_of` does."""
    try:
        row = json.loads(raw or "")
        title, text = _built(row) if manifest.kind != "prebuilt" else _joined(row)
        return Row(str(row["id"]), title, text)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CallFailed(f"The corpus {manifest.corpus} holds a passage that cannot be read.") from error


def matching(rows: Iterable[Row], title: str, text: str) -> Row | None:
    """The first of `rows` that has this title and nearly all words of `text`, which may have been cut or cleaned."""
    named, wanted = _words(title), _words(text)
    for row in rows:
        if _words(row.title) == named and len(wanted & _words(row.text)) >= NEARLY_ALL * len(wanted):
            return row
    return None


def _joined(row: dict[str, str]) -> tuple[str, str]:
    title, passages = _cut(row)
    return title, " ".join(passages)


def best_passage(passages: Sequence[str], query: str) -> str:
    """The passage with most of the query's words, the words that few of the passages have counting more."""
    wanted = _words(query)
    found = [wanted & _words(passage) for passage in passages]
    common = Counter(word for words in found for word in words)
    scores = [sum(1 / common[word] for word in words) for words in found]
    return passages[scores.index(max(scores))] if passages else ""


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
