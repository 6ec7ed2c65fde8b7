"""The names a text mentions, by capitals alone: no model, any script that has capitals."""

from __future__ import annotations

import regex

_WORD = r"\p{Lu}[\w'’-]*\.?"
_LINK = r"(?:of|the|de|da|di|del|du|la|le|von|van|der|bin|ibn|al|and)"
_NAME = regex.compile(rf"{_WORD}(?:\s+(?:{_LINK}\s+){{0,2}}{_WORD})*(?:\s+\d{{1,4}}\b)?")
_OPENERS = frozenset(
    "a an the this that these those it its he she they his her their there in on at by for from with of to as if "
    "when where who what which how why both neither either all some many most no not one two three during after "
    "before since until while although because unlike like according and but or i we you is are was were did does "
    "do has".split()
)


def mentions(text: str) -> tuple[str, ...]:
    """The capitalised names in `text`, in order, each once.

    A word that only opens a sentence ("The", "During") is no name and is cut from the front of one; "and" splits,
    since by capitals alone "Trinidad and Tobago" cannot be told from "Rome and Paris".
    """
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        for part in regex.split(r"\s+and\s+", match[0]):
            words = part.split()
            while words and (words[0].casefold().rstrip(".") in _OPENERS):
                words = words[1:]
            name = " ".join(words).rstrip(".,;:")
            name = regex.sub(r"['’]s$", "", name)
            if len(name) > 1 and not regex.fullmatch(_LINK, name):
                found.setdefault(name)
    return tuple(found)


def names_in(text: str, name: str) -> bool:
    """Whether `text` mentions `name`: all its words, in any case, in order of words."""
    return regex.search(rf"(?<!\w){regex.escape(name.casefold())}(?!\w)", text.casefold()) is not None
