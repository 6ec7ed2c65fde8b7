"""Whether what is cited speaks of what was asked about: not of somebody else, and of a birth where one is asked for.

A reader takes the likeliest words of five passages. That the page is another person's, or the year another event's, it
does not notice; these are plain comparisons of words.
"""

from __future__ import annotations

import re

from app.domain.model import Answer
from app.modules.quoting import quoted_sentence
from app.modules.wording import bare_title, names, stems

_POINTS_BACK = re.compile(r"(?:He|She|It|They|His|Her|Its|Their)\b")
_LIVES = re.compile(r"\b\d{3,4}\s?[-–—]\s?(?:[\w.,]+ ){0,3}\d{3,4}\b")
_LIFE = (
    (re.compile(r"^When (?:was|were) .+ born\?"), re.compile(r"\b(?:born|births?|birthday|b)\b"), "birth"),
    (
        re.compile(r"^When did .+ die\?"),
        re.compile(r"\b(?:die[sd]?|deaths?|dead|killed|murdered|executed|assassinated|suicide|d)\b"),
        "death",
    ),
)


def unspoken(question: str, answer: Answer) -> str:
    """Why the cited passage does not speak of what `question` asks about, in words for people; or nothing."""
    asked = [name for name in names(question) if _is_telling(name)]
    if answer.cited is None or not answer.cited.passage.text.strip():
        return ""
    passage, sentence = answer.cited.passage, quoted_sentence(answer.cited)
    told = stems(passage.title) | stems(passage.text)
    if asked and not any(_is_named(name, told) for name in asked):
        return f"the evidence does not mention {asked[0]}"
    if asked and (other := _somebody_else(asked, answer, sentence)):
        return f"the evidence tells this of {other}, not of {asked[0]}"
    for asks, says, what in _LIFE:
        if asks.search(question) and not says.search(sentence) and not _LIVES.search(sentence):
            return f"the evidence does not speak of a {what}"
    return ""


def _somebody_else(asked: list[str], answer: Answer, sentence: str) -> str:
    """Whom the cited sentence is about when it begins with a pronoun and its article is on none of those `asked`."""
    passage = answer.cited.passage if answer.cited else None
    if passage is None or not passage.title or not _POINTS_BACK.match(sentence):
        return ""
    about = bare_title(passage.title)
    if stems(answer.text or "") <= stems(about):
        return ""
    introduced = stems(about) | stems(sentence) | stems(passage.text.partition(". ")[0])
    return "" if any(_is_named(name, introduced) for name in asked) else about


def _is_named(name: str, words: frozenset[str]) -> bool:
    """Whether half of the name's words are there: few write a name out in full every time."""
    return 2 * len(stems(name) & words) >= len(stems(name))


def _is_telling(name: str) -> bool:
    """Whether a passage on it would write it out: no number, no "U.S." and no word that only begins a sentence."""
    return bool(stems(name)) and not name[0].isdigit() and (" " in name or (len(name) > 3 and "." not in name))
