"""Whether a question can be asked as it stands: it is whole, and says by itself what it is about."""

from __future__ import annotations

import re
from functools import lru_cache

from app.modules.prompts import data
from app.modules.wording import names

_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]")
_DANGLING = re.compile(r"\b(?:is|was|are|were|be|been|has|had|that|which|who|whose|and|or|the|an?)$")
_STUMBLES = re.compile(r"\b([a-z]+) \1\b|\b(?:be|is|was|are|were) (?:is|was|are|were|and)\b|(?:When|Where) \w+ and\b")
_JOINS = re.compile(r"\b(?:who|that|which|whose|whom|where|when|while|what|and|or|because|as|how|if)\b")
_FINITE = re.compile(r"\b(?:is|was|are|were|has|had)\b")
_BE_ASKED = re.compile(r"(?:Who|What|Which|When|Where|How)\b.*?\b(?:is|was|are|were|has|had|did|does|do)\b")
_VERB_ASKED = re.compile(r"(?:Who|What) (?:\w+ly )?[a-z]+(?:ed|ote|ung|on|ook|ave|ent|et)\b")
_POINTS_BACK = re.compile(r"\b(?:his|her|hers|their|its|he|she|him|they|them|it|this|these)\b", re.IGNORECASE)


def is_whole(question: str) -> bool:
    """Whether a question is one sentence: nothing hangs at its end and it has one main verb."""
    text = _QUOTED.sub("X", question).strip(" ?")
    if _DANGLING.search(text) or _STUMBLES.search(text):
        return False
    asked = _VERB_ASKED.match(text) or _BE_ASKED.match(text)
    rest = text[asked.end() :] if asked else ""
    return len(_FINITE.findall(rest)) <= len(_JOINS.findall(text.split(" ", 1)[-1]))


def points_back(question: str) -> bool:
    """Whether it asks of "his" or "the film" without naming whom or what."""
    text = question.strip(" ?")
    pronoun = _POINTS_BACK.search(text)
    if pronoun and not names(text[: pronoun.start()]):
        return True
    return not names(text) and bool(_bare_kind().search(text))


@lru_cache
def _bare_kind() -> re.Pattern[str]:
    facts = data("claim_questions")
    return re.compile(rf"\b(?:the|that) (?:{facts['works']}|{facts['persons']})$")
