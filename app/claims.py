"""What a person typed -> a Claim, or one clear sentence saying what is wrong with it. Page, API and CLI share it."""

from __future__ import annotations

import re
import unicodedata

from app.reasoning.errors import InvalidInput
from app.reasoning.types import Claim

SHORTEST = 3
LONGEST = 500

_LINE_BREAK = re.compile("\r\n|[\r\n\t\u2028\u2029]")
_UNSEEN = frozenset({"Zs", "Cf"})
"""Categories that leave no mark on a page: spaces, and format characters such as zero-width joiners."""


def clean_claim(raw: str) -> Claim:
    """The claim in `raw`: trimmed, line breaks and tabs as spaces, 3 to 500 characters of any script.

    Raises InvalidInput for anything else. Characters are Unicode code points; a CRLF counts once.
    """
    text = _LINE_BREAK.sub(" ", raw).strip()
    categories = {unicodedata.category(character) for character in text}
    if categories <= _UNSEEN:
        raise InvalidInput("Please write a claim.")
    if "Cs" in categories:
        raise InvalidInput("The claim is not valid UTF-8 text.")
    if "Cc" in categories:
        raise InvalidInput("The claim holds control characters; please take them out.")
    if len(text) < SHORTEST:
        raise InvalidInput(f"The claim is too short: it needs at least {SHORTEST} characters.")
    if len(text) > LONGEST:
        raise InvalidInput(f"The claim has {len(text)} characters; at most {LONGEST} are allowed.")
    return Claim(text)
