"""Compare the words of claims, questions and answers: stems, names, and the kind of thing that a question asks for."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

from app.modules.prompts import data
from app.text.sentences import ABBREVIATED

_IN_BRACKETS = re.compile(r"\s*\([^)]*\)$")
_WORD = re.compile(r"[^\W_]+(?:[’'][^\W_]+)*")

_UPPER = "".join(letter for letter in map(chr, range(0x600)) if letter.isupper())
_INSIDE = r"[\w&-]|[.,](?=\w)|[’'](?!s\b)(?=\w)"
_ABBREVIATION = "|".join(rf"(?<=\b{short})" for short in ABBREVIATED)
_ENDING = rf"(?<=\b[{_UPPER}])\.|(?:{_ABBREVIATION})\.|:(?= [{_UPPER}])"
_CAPITAL = rf"[{_UPPER}0-9](?:{_INSIDE})*(?:{_ENDING})?"
NAME = rf"{_CAPITAL}(?: (?:(?:of|the|de|du|da|la|le|van|von|der|den|di|al|bin|ibn|no) )*{_CAPITAL})*"
"""A pattern for a name: capitalised words, and the small words between them."""
_NAMES = re.compile(rf'["“«]([^"”»]+)["”»]|({NAME})')

SAME = 0.75
"""Word overlap (Jaccard) from which two questions of one kind ask the same."""


def normalised(text: str) -> str:
    """Return the text for comparison: lower case, without accents, punctuation or repeated spaces."""
    plain = text
    if not text.isascii():  # most text is ASCII, which has no accents
        plain = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return " ".join(_WORD.findall(plain.casefold()))


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return _stemmer().stem(word)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    # Imported on first use: NLTK takes a second to import, which would delay a page.
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer("english")


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words; words for one relation ("author", "wrote") share a stem."""
    words = data("words")
    found = (word.removesuffix("'s").removesuffix("’s") for word in normalised(text).split())
    return frozenset(words["relations"].get(word) or _stem(word) for word in found if word not in words["functional"])


def bare_title(title: str) -> str:
    """Return the title without a disambiguation in brackets: "Psycho" for "Psycho (1960 film)"."""
    return _IN_BRACKETS.sub("", title)


def names(text: str) -> tuple[str, ...]:
    """Return the names and quoted titles in `text`, in order, each once, without function words at their start."""
    found = []
    for quoted, name in _NAMES.findall(text):
        name = _without_opening(quoted or name)
        if name and name not in found:
            found.append(name)
    return tuple(found)


def _without_opening(name: str) -> str:
    """Return the name without function words at its start: "Nile" for "The Nile", "Paris" for "In Paris"."""
    words = name.split()
    functional = data("words")["functional"]
    while words and words[0].casefold() in functional:
        words.pop(0)
    return " ".join(words)


def asked_for(question: str) -> str:
    """Return the kind asked for: "person", "place", "time", "amount" or "thing"; "" for a yes/no question."""
    opening = " ".join(normalised(question).split()[:4])
    for kind, pattern in data("words")["kinds"].items():
        if re.search(pattern, opening):
            return kind
    return ""


def same_question(one: str, other: str) -> bool:
    """Return whether two questions ask for the same kind of thing in nearly the same words."""
    if normalised(one) == normalised(other):
        return True
    if asked_for(one) != asked_for(other) or differ_in_names(one, other):
        return False
    return overlap(_subject_matter(one), _subject_matter(other)) >= SAME


def differ_in_names(one: str, other: str) -> bool:
    """Return whether each has a name that the other lacks: "Is it listed in Fiji?", "Is it listed in Peru?"."""
    both = [frozenset().union(*(stems(name) for name in names(text))) for text in (one, other)]
    return bool(both[0] - stems(other)) and bool(both[1] - stems(one))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard similarity in [0, 1]; 0 for two empty sets."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _subject_matter(question: str) -> frozenset[str]:
    """Return a question's stems without nouns that only name the kind of thing asked for, or all if none remain."""
    kinds = frozenset(_stem(noun) for noun in data("words")["kind_nouns"])
    whole = stems(question)
    return (whole - kinds) or whole
