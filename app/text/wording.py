"""Compare claims, questions and answers by their words: stems, names and expected answer types.

Also normalises text for searches.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from itertools import dropwhile, takewhile
from typing import Any

from snowballstemmer.english_stemmer import EnglishStemmer

from app.text.sentences import ABBREVIATED

_IN_BRACKETS = re.compile(r"(?<!\s)\s*\([^()]*\)$")
_WORD = re.compile(r"[^\W_]+(?:[’'][^\W_]+)*")

_UPPER = "".join(letter for letter in map(chr, range(0x600)) if letter.isupper())
# Within a word of a name: ".", "," and "’" only before a letter or digit, and not the "’s" of a possessive.
_INSIDE = r"[\w&-]|[.,](?=\w)|[’'](?!s\b)(?=\w)"
_ABBREVIATION = "|".join(rf"(?<=\b{short})" for short in ABBREVIATED)
# At its end: the full stop of an initial or an abbreviation, or the colon before a capitalised subtitle.
_ENDING = rf"(?<=\b[{_UPPER}])\.|(?:{_ABBREVIATION})\.|:(?= [{_UPPER}])"
_CAPITAL = rf"[{_UPPER}0-9](?:{_INSIDE})*(?:{_ENDING})?"
NAME = rf"{_CAPITAL}(?: (?:(?:of|the|de|du|da|la|le|van|von|der|den|di|al|bin|ibn|no) )*{_CAPITAL})*"
"""A pattern for a name: words that begin with a capital or a digit, and the small words between them."""
_NAMES = re.compile(rf'["“«]([^"“”«»]+)["”»]|({NAME})')

MIN_SAME_QUESTION_OVERLAP = 0.75
"""Word overlap (Jaccard) from which two questions with the same expected answer type count as the same."""


@lru_cache(maxsize=1)
def word_lists() -> dict[str, Any]:
    """Return the content of words.json. All callers share it: do not modify it."""
    found: dict[str, Any] = json.loads((files("app.text") / "words.json").read_text(encoding="utf-8"))
    return found


def normalised(text: str) -> str:
    """Return the text for comparison: lower case, without accents, punctuation or repeated spaces."""
    plain = text
    if not text.isascii():  # most text is ASCII, which has no accents
        plain = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return " ".join(_WORD.findall(plain.casefold()))


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return str(EnglishStemmer().stemWord(word))  # an instance is not thread-safe


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words; words for the same relation ("author", "wrote") share a stem."""
    words = word_lists()
    found = (word.removesuffix("'s").removesuffix("’s") for word in normalised(text).split())
    return frozenset(words["relations"].get(word) or _stem(word) for word in found if word not in words["functional"])


def bare_title(title: str) -> str:
    """Return the title without a disambiguation in brackets: "Psycho" for "Psycho (1960 film)"."""
    return _IN_BRACKETS.sub("", title)


def names(text: str) -> tuple[str, ...]:
    """Return the names, numbers and quoted titles in `text`, each once, without function words at their start."""
    found = (dropwhile(_is_functional, (quoted or name).split()) for quoted, name in _NAMES.findall(text))
    return tuple(filter(None, dict.fromkeys(map(" ".join, found))))


_PRONOUN = re.compile(
    r"(?:(?P<subject>He|She|It|They|(?:This|That|These|Those)(?= (?:is|are|was|were|has|have|had|will|can|did)\b))"
    r"|His|Her|Its|Their)\b",
    re.IGNORECASE,
)


def with_name(text: str, name: str) -> str:
    """Return the text with `name` in place of the pronoun at its start; the text itself if it begins with none."""
    found = _PRONOUN.match(text)
    return f"{name}{'' if found['subject'] else '’s'}{text[found.end() :]}" if found else text


def without_names(text: str) -> str:
    """Return the text without its names, numbers and quoted titles, but with the function words at their start."""
    shown = _NAMES.sub(lambda found: " ".join(takewhile(_is_functional, (found[1] or found[2]).split())), text)
    return " ".join(shown.split())


def _is_functional(word: str) -> bool:
    return word.casefold() in word_lists()["functional"]


def expected_answer_type(question: str) -> str:
    """Return "person", "place", "time", "amount" or "thing"; "" for others, such as yes/no questions."""
    opening = " ".join(normalised(question).split()[:4])
    return next((kind for kind, pattern in word_lists()["kinds"].items() if re.search(pattern, opening)), "")


def same_question(one: str, other: str) -> bool:
    """Return whether two questions expect the same type of answer and have nearly the same words."""
    if normalised(one) == normalised(other):
        return True
    if expected_answer_type(one) != expected_answer_type(other) or differ_in_names(one, other):
        return False
    return overlap(_subject_matter(one), _subject_matter(other)) >= MIN_SAME_QUESTION_OVERLAP


def is_new_question(question: str, asked: Iterable[str]) -> bool:
    return not any(same_question(question, one) for one in asked)


def differ_in_names(one: str, other: str) -> bool:
    """Return whether each has a name that the other lacks: "Is it listed in Fiji?", "Is it listed in Peru?"."""
    both = [frozenset().union(*(stems(name) for name in names(text))) for text in (one, other)]
    return bool(both[0] - stems(other)) and bool(both[1] - stems(one))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard similarity in [0, 1]; 0 for two empty sets."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _subject_matter(question: str) -> frozenset[str]:
    """Return a question's stems without nouns that only name the type of the answer, or all if none remain."""
    kinds = frozenset(_stem(noun) for noun in word_lists()["kind_nouns"])
    whole = stems(question)
    return (whole - kinds) or whole


_INVISIBLE = frozenset(("Mn", "Cc", "Cf", "Cs"))
"""Ignored categories: marks, control and format characters, and surrogates."""


def folded(text: str) -> str:
    """Return `text` in the form that is searched: case-folded, in NFKC, without marks, with single spaces.

    Then "erdogan" finds "Erdoğan" and "strasse" finds "Straße", as with a collation of primary strength (UTS 10).
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    visible = "".join(each for each in decomposed if each.isspace() or unicodedata.category(each) not in _INVISIBLE)
    return " ".join(unicodedata.normalize("NFKC", visible.casefold().replace("ı", "i")).split())


def search_words(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folded(query).split()))


_DIRECTION = {chr(code): f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""The controls that can make text look like another text; not the marks that some languages need."""


def escape_direction(value: Any) -> Any:
    """Return text with its controls of direction (bidi) made visible, like `\\u202e`; other values unchanged."""
    has_any = isinstance(value, str) and not value.isascii() and any(each in value for each in _DIRECTION)
    return value.translate(str.maketrans(_DIRECTION)) if has_any else value  # which takes fifty times as long
