"""Which English words are no names, by the statistics that come with Punkt's English model."""

from __future__ import annotations

from functools import lru_cache

_SEEN_IN_SMALL_LETTERS = 0b1110000
"""Punkt's flags for a word seen in small letters at the head of a sentence, inside one, or somewhere in it."""


def is_common_word(word: str) -> bool:
    """Whether Punkt's training text has the word in small letters; one that it never had is taken for a name."""
    return bool(_seen().get(word.casefold(), 0) & _SEEN_IN_SMALL_LETTERS)


@lru_cache(maxsize=1)
def _seen() -> dict[str, int]:
    from punkt import load_model

    return dict(load_model("english").ortho_context)
