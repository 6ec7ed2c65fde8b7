"""Comparing the words of claims, questions and answers: stems, names, and what kind of thing a question asks for."""

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
"""Two questions of one kind whose words overlap at least so much (Jaccard) ask the same."""


def normalised(text: str) -> str:
    """Lower case, without accents, punctuation or doubled spaces: the form in which strings are compared."""
    plain = text
    if not text.isascii():  # most of it is, and has no accents
        plain = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return " ".join(_WORD.findall(plain.casefold()))


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return _stemmer().stem(word)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    # NLTK takes a second to import, and no page waits for it.
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer("english")


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning; words for one relation ("author", "wrote") share a stem."""
    words = data("words")
    found = (word.removesuffix("'s").removesuffix("’s") for word in normalised(text).split())
    return frozenset(words["relations"].get(word) or _stem(word) for word in found if word not in words["functional"])


def bare_title(title: str) -> str:
    """The title without what tells it from its namesakes: "Psycho (1960 film)" is about Psycho."""
    return _IN_BRACKETS.sub("", title)


def names(text: str) -> tuple[str, ...]:
    """Names and quoted titles in `text`, in order, each once; a function word that only begins a sentence is none."""
    found = []
    for quoted, name in _NAMES.findall(text):
        name = _without_opening(quoted or name)
        if name and name not in found:
            found.append(name)
    return tuple(found)


def _without_opening(name: str) -> str:
    """The name without function words at its head: "The Nile" is about Nile, "In Paris" about Paris."""
    words = name.split()
    functional = data("words")["functional"]
    while words and words[0].casefold() in functional:
        words.pop(0)
    return " ".join(words)


def asked_for(question: str) -> str:
    """The kind of thing asked for: "person", "place", "time", "amount", "thing"; empty for a yes/no question."""
    opening = " ".join(normalised(question).split()[:4])
    for kind, pattern in data("words")["kinds"].items():
        if re.search(pattern, opening):
            return kind
    return ""


def same_question(one: str, other: str) -> bool:
    """Whether two questions ask for the same kind of thing in nearly the same words."""
    if normalised(one) == normalised(other):
        return True
    if asked_for(one) != asked_for(other) or differ_in_names(one, other):
        return False
    return overlap(_subject_matter(one), _subject_matter(other)) >= SAME


def differ_in_names(one: str, other: str) -> bool:
    """Whether each names something that the other does not: "Is it listed in Fiji?" and "Is it listed in Peru?" """
    both = [frozenset().union(*(stems(name) for name in names(text))) for text in (one, other)]
    return bool(both[0] - stems(other)) and bool(both[1] - stems(one))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity in [0, 1]; two empty sets share nothing."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _subject_matter(question: str) -> frozenset[str]:
    """What is left of a question's stems without the noun that only says what kind of thing is asked for."""
    kinds = frozenset(_stem(noun) for noun in data("words")["kind_nouns"])
    whole = stems(question)
    return (whole - kinds) or whole
