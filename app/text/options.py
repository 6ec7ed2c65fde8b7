"""Find the option with which a model's reply begins.

An unclear reply has none: "No one knows" is not "No", "Yes or no" names both, and "Yes, but only if ..." is qualified.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_BEFORE = re.compile(
    r"\A[\s\"'“”‘’`*_#>\[({-]*(?:(?:the )?(?:final )?(?:answer|prediction|label|verdict)\W*[:=][\s\"'“”‘’`*_]*)?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_QUALIFIED = re.compile(r"^\W*(?:but|if|unless|though|although|however|except|only)\b", re.IGNORECASE)


def plain(text: str) -> str:
    """Return `text` case-folded, with single spaces for white space and underscores, without outer punctuation."""
    return " ".join(re.sub(r"\A\W+|\W+\Z", "", text.casefold().replace("_", " ")).split())


def option_in(text: str, options: Sequence[str]) -> str | None:
    """Return the option with which `text` begins, None when there is none.

    Only markup and a heading like "Final answer:" may precede the option; only punctuation, a line break or the end may
    follow it. None also when the same sentence names another option, or qualifies this one as in "Yes, but".
    """
    reply = _BEFORE.sub("", text)
    found = [option for option in options if _begins(reply, option)]
    if not found:
        return None
    option = max(found, key=len)
    rest = _SENTENCE_END.split(reply[len(option) :], maxsplit=1)[0]
    # The reply may repeat its option, in full or in part: after "not enough", "enough" is no other option.
    others = (other for other in options if plain(other) not in plain(option))
    return None if _QUALIFIED.match(rest) or any(_contains(rest, other) for other in others) else option


def _begins(text: str, option: str) -> bool:
    """Return whether `text` begins with the whole option: "No, ..." with "No", but not "No one" or "no-one"."""
    return bool(re.match(rf"{_pattern(option)}(?![-‐–'’\w])(?=\s*(?:\Z|[^\w\s]|\n))", text, re.IGNORECASE))


def _contains(text: str, option: str) -> bool:
    return bool(re.search(rf"\b{_pattern(option)}\b", text, re.IGNORECASE))


def _pattern(option: str) -> str:
    """Return a pattern for the option's words, joined by spaces or underscores."""
    return r"[\s_]+".join(re.escape(word) for word in re.split(r"[\s_]+", option))
