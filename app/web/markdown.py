"""Words of people and pages as Markdown that shows them and does nothing else: no link, no markup, no HTML.

Made for CommonMark and GitHub's dialect of it. Whatever is given comes out on one line.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[\\`*_\[\]|~$#<>&@]|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", ":": "&#58;", ".": "&#46;"}
"""Nobody takes these for anything but text; what is not here gets a backslash."""
_LIST_OR_RULE = re.compile(r"\A(\d*)(?=[+=.)-])")
"""So begins a line that may be a list's, a rule or what makes a heading of the line above."""
_UNSAFE_IN_ADDRESS = re.compile(r"[\s\x00-\x20\x7f<>\\`]")
_SPACE = re.compile(r"\s+")
_WHOLE_WORDS = re.compile(r"[^\W_](.*[^\W_])?")


def plain(text: str) -> str:
    """The text as it stands within a line."""
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), _one_line(text))


def line(text: str) -> str:
    """The text as it stands where a line begins."""
    return _LIST_OR_RULE.sub(r"\1\\", plain(text).lstrip())


def bold(text: str) -> str:
    """The text in bold. Two asterisks do that only around whole words."""
    if _WHOLE_WORDS.fullmatch(_one_line(text)):
        return f"**{plain(text)}**"
    return f"<strong>{plain(text)}</strong>"


def link(text: str, address: str | None) -> str:
    """A link, or the text alone without an address. The address must be one that may be followed."""
    if not address:
        return plain(text)
    told = _UNSAFE_IN_ADDRESS.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address)
    return f"[{plain(text)}](<{told.replace('&', '&amp;')}>)"


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text)
