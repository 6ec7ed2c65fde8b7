"""Recognise the released files of AVeriTeC, HoVer, FEVEROUS and SQuAD by their fields, and convert their rows.

HoVer and FEVEROUS name the Wikipedia articles of the evidence without their text. Whole runs need no text; `datasets
prepare hover` adds it to HoVer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

AVERITEC, HOVER, FEVEROUS, SQUAD = "averitec", "hover", "feverous", "squad"


@dataclass(frozen=True, slots=True)
class Source:
    """A data set's origin, licence and requirements."""

    name: str
    title: str
    files: tuple[str, ...]
    address: str
    licence: str
    megabytes: float | None  # size of the first file
    also: str  # what else is needed


SOURCES = (
    Source(
        AVERITEC,
        "AVeriTeC: claims of fact-checkers, with questions and answers from the web",
        ("data/dev.json", "data/train.json"),
        "https://github.com/MichSchli/AVeriTeC",
        "CC BY-NC 4.0: not for commercial use",
        1.8,
        "A search engine with dates (docs/sources.md). The labels of its test set are not published.",
    ),
    Source(
        HOVER,
        "HoVer: claims over two to four articles of Wikipedia",
        ("data/hover/hover_dev_release_v1.1.json", "data/hover/hover_train_release_v1.1.json"),
        "https://github.com/hover-nlp/hover",
        "CC BY-SA 4.0",
        2.2,
        "For --evidence gold, the text of its articles: datasets prepare hover. For runs, a corpus of Wikipedia.",
    ),
    Source(
        FEVEROUS,
        "FEVEROUS: claims over sentences and tables of Wikipedia; FEVEROUS-S is its rows without tables",
        ("feverous_dev_challenges.jsonl",),
        "https://fever.ai/dataset/feverous.html",
        "CC BY-SA 3.0",
        None,
        "For runs, a corpus of Wikipedia. Its own Wikipedia is a large database, which is not read here.",
    ),
    Source(
        SQUAD,
        "SQuAD: questions about paragraphs of Wikipedia, to train a reader",
        ("dev-v1.1.json", "dev-v2.0.json"),
        "https://rajpurkar.github.io/SQuAD-explorer/",
        "CC BY-SA 4.0",
        None,
        "Nothing: it holds its paragraphs. It trains readers and has no claims for `evaluate`.",
    ),
)


def release_of(row: Mapping[str, Any]) -> str | None:
    """Return the data set whose released rows have these fields; None for rows in Hopcheck's own form."""
    if "supporting_facts" in row or "num_hops" in row:
        return HOVER
    if "expected_challenge" in row or "annotator_operations" in row:
        return FEVEROUS
    if ("questions" in row and "id" not in row) or "cached_original_claim_url" in row:
        return AVERITEC
    if "paragraphs" in row:
        return SQUAD
    return None


def to_own_form(row: dict[str, Any], place: int) -> dict[str, Any] | None:
    """Return a released row as one in Hopcheck's own form, and a row of that form as it is.

    `place` is the position in the file from 0. Returns None for the empty rows that the releases contain.
    """
    release = release_of(row)
    return _CONVERTERS[release](row, place) if release in _CONVERTERS else row


def _averitec(row: dict[str, Any], place: int) -> dict[str, Any] | None:
    """Convert a row. Its id is the position in the file, as in the shared task; blank questions are left out."""
    if not (row.get("claim") or "").strip() or not row.get("label"):
        return None
    asked = [each for each in row.get("questions") or () if isinstance(each, dict) and each.get("question", "").strip()]
    return {**row, "id": row.get("id", place), "questions": asked, "date": row.get("claim_date") or row.get("date")}


def _hover(row: dict[str, Any], place: int) -> dict[str, Any] | None:
    facts = row.get("supporting_facts") or ()
    titles = dict.fromkeys(fact[0] for fact in facts if isinstance(fact, list) and fact and isinstance(fact[0], str))
    return {
        "id": row.get("uid", place),
        "claim": row.get("claim"),
        "label": row.get("label"),
        "hops": row.get("num_hops"),
        "evidence": [{"title": title, "text": None} for title in titles],
        "group": row.get("hpqa_id"),
    }


_SENTENCE = re.compile(r"(?P<title>.+)_sentence_\d+")
_ELEMENT = re.compile(r"(?P<title>.+?)_(?:sentence|cell|header_cell|table_caption|item|section|title)(?:_[\d_]+)?")


def _feverous(row: dict[str, Any], place: int) -> dict[str, Any] | None:
    """Convert a row. The release's first row is empty. Rows without tables are FEVEROUS-S."""
    if not row.get("claim") and not row.get("label"):
        return None
    sets = row.get("evidence") or ()
    sets = [sets] if isinstance(sets, dict) else sets
    named = [each for found in sets for each in found.get("content") or ()]
    titles = dict.fromkeys(match["title"] for each in named if (match := _ELEMENT.fullmatch(each)))
    return {
        "id": row.get("id", place),
        "claim": row.get("claim"),
        "label": row.get("label"),
        "challenge": row.get("challenge"),
        "evidence": [{"title": title, "text": None} for title in titles],
        "tables": not all(_SENTENCE.fullmatch(each) for each in named),
    }


def with_texts(row: Mapping[str, Any], text_of: Callable[[str], str]) -> dict[str, Any] | None:
    """Return a row in Hopcheck's own form with the texts of the articles that it names.

    `text_of` returns the text of an article by its title, or "". Returns None if one of the texts is missing.
    """
    evidence = [
        {"title": each["title"], "text": each.get("text") or text_of(each["title"])} for each in row["evidence"]
    ]
    return {**row, "evidence": evidence} if evidence and all(each["text"] for each in evidence) else None


_CONVERTERS: dict[str | None, Callable[[dict[str, Any], int], dict[str, Any] | None]] = {
    AVERITEC: _averitec,
    HOVER: _hover,
    FEVEROUS: _feverous,
}
