"""How near a given answer is to the right ones: exact match and F1, as SQuAD's own script counts them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> list[str]:
    """The words of an answer: lower case, without punctuation and articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def exact_match(given: str | None, answers: Sequence[str]) -> float:
    """1 when `given` is one of `answers` after normalising; with no `answers`, 1 when nothing is given."""
    if given is None or not answers:
        return float(given is None and not answers)
    return float(any(normalised(given) == normalised(answer) for answer in answers))


def f1(given: str | None, answers: Sequence[str]) -> float:
    """The best F1 over words against one of `answers`; with no `answers`, 1 when nothing is given."""
    if given is None or not answers:
        return float(given is None and not answers)
    return max(_f1(normalised(given), normalised(answer)) for answer in answers)


def _f1(given: list[str], answer: list[str]) -> float:
    if not given or not answer:
        return float(given == answer)
    shared = sum((Counter(given) & Counter(answer)).values())
    return 2 * shared / (len(given) + len(answer))
