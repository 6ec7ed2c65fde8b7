"""Distinguishes common English words from names, by the statistics of Punkt's English model."""

from __future__ import annotations

from functools import lru_cache

_SEEN_IN_SMALL_LETTERS = 0b1110000
"""Punkt's flags for a word seen in lower case at the start of a sentence, inside one, or anywhere."""


def is_common_word(word: str) -> bool:
    """Return whether Punkt's training text has the word in lower case; unknown words count as names."""
    return bool(_seen().get(word.casefold(), 0) & _SEEN_IN_SMALL_LETTERS)


@lru_cache(maxsize=1)
def _seen() -> dict[str, int]:
    from punkt import load_model

    return dict(load_model("english").ortho_context)
