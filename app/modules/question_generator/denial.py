"""What a claim denies: asked about as if it were said, and read the other way round."""

from __future__ import annotations

import re

from app.modules.judging.yes_no import inflected
from app.modules.prompts import data

DENIAL = re.compile(r"\b(?:not(?! only)|never|neither|nor)\b|n['’]t\b", re.IGNORECASE)
"""A word that turns what a clause says into its opposite."""
_CLAUSE = re.compile(r"[,;:.]|\b(?:and|but|who|which|that|whose|where|when|while)\b")
_DID_NOT = re.compile(r"\b(do|does|did)(?: not(?! only)|n['’]t)(?: ever)? ([a-z]+)")
_IS_NOT = re.compile(r"\b(is|was|are|were|has|have|had|could|would)(?: not(?! only)|n['’]t)(?: ever)?\b")
_NEVER = re.compile(r"\bnever ")


def is_denied(text: str, value: str) -> bool:
    """Whether `text` gives this value only to deny it, in the same clause: "is not in Paris"."""
    before, found, after = text.partition(value)
    clause = _CLAUSE.split(before)[-1] + value + _CLAUSE.split(after)[0]
    return bool(found) and bool(DENIAL.search(clause))


def affirmed(text: str) -> str:
    """The text without its denials: "did not write" is "wrote". Whoever asks about it asks the same."""
    text = _DID_NOT.sub(_without_not, text)
    return _NEVER.sub("", _IS_NOT.sub(r"\1", text))


def _without_not(found: re.Match[str]) -> str:
    auxiliary, verb = found.groups()
    return found[0] if verb in data("yes_no")["adverbs"] else inflected(verb, auxiliary)
