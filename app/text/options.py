"""Which of the options that were offered a text begins with. It never guesses: no option, or two, is None.

Read strictly, because free text is full of traps: "True, as is well known" holds the letters "no", "No one knows" is no
"No", "Yes or no" echoes the question, and "Yes, but only if ..." is half of each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_BEFORE = re.compile(
    r"\A[\s\"'“”‘’`*_#>\[({-]*(?:(?:the )?(?:final )?(?:answer|prediction|label|verdict)\W*[:=][\s\"'“”‘’`*_]*)?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_TAKEN_BACK = re.compile(r"^\W*(?:but|if|unless|though|although|however|except|only)\b", re.IGNORECASE)


def plain(text: str) -> str:
    """`text` in small letters, one space between words, without marks around it; an underscore counts as a space."""
    return " ".join(re.sub(r"\A\W+|\W+\Z", "", text.casefold().replace("_", " ")).split())


def option_in(text: str, options: Sequence[str]) -> str | None:
    """The option that `text` begins with, markup apart, as a whole and with nothing but a mark or the end behind it.

    None when there is none, and when the same sentence goes on to name another option or to take this one back.
    """
    said = _BEFORE.sub("", text)
    found = [option for option in options if _begins(said, option)]
    if not found:
        return None
    option = max(found, key=len)
    rest = _SENTENCE_END.split(said[len(option) :], maxsplit=1)[0]
    others = (other for other in options if plain(other) not in plain(option))
    return None if _TAKEN_BACK.match(rest) or any(_holds(rest, other) for other in others) else option


def _begins(text: str, option: str) -> bool:
    """Neither "No one" nor "no-one" nor "Nowhere" begins with "No"; "No, ..." and "**No** ..." do."""
    return bool(re.match(rf"{_written(option)}(?![-‐–'’\w])(?=\s*(?:\Z|[^\w\s]|\n))", text, re.IGNORECASE))


def _holds(text: str, option: str) -> bool:
    return bool(re.search(rf"\b{_written(option)}\b", text, re.IGNORECASE))


def _written(option: str) -> str:
    """A pattern for the option's words, however they are joined: NOT_ENOUGH or "not enough"."""
    return r"[\s_]+".join(re.escape(word) for word in re.split(r"[\s_]+", option))
