"""What is searched for: claim and question, and when that finds nothing, only the names in them (Papelo, section 3.2).

A name is a run of capitalised words in any script that has capitals. The first word of a sentence has a capital for
another reason, so alone it counts as a name only when Punkt's English statistics never saw it in small letters, as
they saw "Scientists" and not "Erdoğan".
"""

from __future__ import annotations

from app.domain.model import Claim, Question
from app.modules.wording import names
from app.text.common_words import is_common_word
from app.text.sentences import sentences

LONG_WORDS, LONG_CHARACTERS = 50, 400
"""What every search engine takes of a query (docs/web-search.md); some cut the end off a longer one."""


def whole_query(claim: Claim, question: Question) -> str:
    """The claim and the question, letters and marks as they were typed.

    The question comes first in a long one: without its end it asks nothing, and a claim loses less.
    """
    words = f"{claim.text} {question.text}".split()
    if len(words) > LONG_WORDS or len(" ".join(words)) > LONG_CHARACTERS:
        words = f"{question.text} {claim.text}".split()
    return " ".join(words)


def names_query(claim: Claim, question: Question) -> str:
    """The names in claim and question, each once; the question where there are none, as in Arabic."""
    found: dict[str, None] = {}
    for text in (claim.text, question.text):
        for sentence in sentences(text):
            found.update(dict.fromkeys(_names(sentence)))
    longest = [name for name in found if not any(name != other and name in other for other in found)]
    return " ".join(longest) or question.text


def _names(sentence: str) -> list[str]:
    """The names in one sentence, without a first word that only begins it, as every question's first word does."""
    opening = sentence.lstrip("\"“”«»'‘(¿¡ ")
    asks = sentence.rstrip().endswith("?")
    return [
        name
        for name in names(sentence)
        if not (opening.startswith(name) and (is_common_word(name) or (asks and " " not in name)))
    ]
