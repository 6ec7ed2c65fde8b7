"""AVeriTeC's ten web sentences a claim as a search back end: the same ten, whatever is searched for.

They are what somebody else's search brought for the claim as it stands. None has a title, a date or a page behind it,
so long documents, metadata and dates cannot be measured on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.domain.errors import CallFailed
from app.domain.model import Page, SearchHit
from app.evaluation.jsonl import read_jsonl

NAME = "given sentences"


class GivenSentences:
    """Implements `WebSearch` and `PageReader` for one claim. Nothing leaves the machine."""

    name = NAME
    destination: str | None = None

    def __init__(self, sentences: Sequence[tuple[str, str]]) -> None:
        """`sentences` are (sentence, address) pairs, best first; an address may be empty."""
        self._hits = tuple(SearchHit("", _site(url), sentence, url) for sentence, url in sentences)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """The first `k`, none of which has a date."""
        return self._hits[: max(k, 0)]

    def read(self, hit: SearchHit) -> Page:
        """Raises CallFailed: the page is not there, whatever stands at its address today."""
        raise CallFailed("Only a sentence of this page was given.")


def given_sentences(path: Path) -> dict[str, GivenSentences]:
    """For each row of the JSONL file by its id the sentences of its `web`, a list of {sentence, url}.

    Rows without any are left out. Raises InvalidInput in one sentence that names the line at fault.
    """
    rows = read_jsonl(path, _sentences, field="file", empty="there is nothing to search")
    return {name: GivenSentences(pairs) for name, pairs in rows if pairs}


def _sentences(row: dict[str, Any], number: int) -> tuple[str, list[tuple[str, str]]]:
    try:
        pairs = [_pair(each) for each in row.get("web") or ()]
        return str(row["id"] if pairs else ""), pairs
    except (KeyError, TypeError, AttributeError):
        raise ValueError("no list of {sentence, url} as its web") from None


def _pair(each: dict[str, Any]) -> tuple[str, str]:
    sentence, url = each["sentence"], each.get("url") or ""
    if not isinstance(sentence, str) or not isinstance(url, str):
        raise TypeError("a sentence or an address that is no text")
    return sentence, url


def _site(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
