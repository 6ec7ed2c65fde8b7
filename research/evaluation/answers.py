"""Compare an answer with the right ones by exact match and token F1, as SQuAD's evaluation script does."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> list[str]:
    """Return the lower-case words of an answer, without punctuation and articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def exact_match(given: str | None, answers: Sequence[str]) -> float:
    """Return 1 if `given` equals one of `answers` after normalising, or if there is neither, else 0."""
    if given is None or not answers:
        return float(given is None and not answers)
    return float(any(normalise(given) == normalise(answer) for answer in answers))


def f1(given: str | None, answers: Sequence[str]) -> float:
    """Return the highest token F1 of `given` with one of `answers`; without `answers`, 1 if `given` is None."""
    if given is None or not answers:
        return float(given is None and not answers)
    return max(_f1(normalise(given), normalise(answer)) for answer in answers)


def _f1(given: list[str], answer: list[str]) -> float:
    if not given or not answer:
        return float(given == answer)
    shared = sum((Counter(given) & Counter(answer)).values())
    return 2 * shared / (len(given) + len(answer))
