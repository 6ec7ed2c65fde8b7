"""Names as whole as the claim writes them: titles with an apostrophe, a bracket, "No." or small words in them.

`wording.names` takes capitalised words, which is what answers and evidence are compared by. Who looks a title up needs
all of it: "Three's Company" and not "Three".
"""

from __future__ import annotations

import re
from functools import lru_cache

from app.modules.clauses import is_person
from app.modules.prompts import data
from app.modules.wording import NAME, names, stems

MONTHS = "January February March April May June July August September October November December".split()
_NUMBERED = re.compile(r"\. \d+(?: in [A-G](?:[- ](?:flat|sharp))? (?:major|minor))?")
_IN_BRACKETS = re.compile(r" \((?=[^)]*[A-Z][a-z])[A-Z][^)\d]*\)")
_POSSESSED = re.compile(rf"[’']s ({NAME})")
_AGAINST = re.compile(rf" vs?\. {NAME}")
_SMALL = rf"(?: (?:at|with|in|on|a|to|from|for|as))(?: the| a)? (?!\d|(?:{'|'.join(MONTHS)})\b){NAME}"
_WORKS = r"\b(?:The|film|movie|novel|album|song|single|book|play|series|sitcom|show) "


def whole_names(text: str) -> list[str]:
    """The names and titles in `text`, in order; a name that stands nowhere but inside a longer one is left out."""
    found = list(dict.fromkeys(_whole(name, text) for name in names(text)))
    return [name for name in found if _stands_alone(name, found, text)]


def looks_like_a_person(subject: str) -> bool:
    """Two to four capitalised words and no noun for a work or a place: a name as people bear it."""
    words = subject.split()
    return 2 <= len(words) <= 4 and bool(re.fullmatch(NAME, subject)) and not stems(subject) & _thing_stems()


def _whole(name: str, text: str) -> str:
    """The name with what follows and belongs to it at one of its places, where that can be told."""
    rests = (text[at.end() :] for at in re.finditer(rf"(?<!\w){re.escape(name)}", text))
    if more := next(filter(None, (_belonging(name, rest) for rest in rests)), ""):
        return f"{name}{more}"
    opened = re.match(rf".*?(?:{_WORKS}|^){re.escape(name)}({_SMALL})", text)
    return f"{name}{opened[1]}" if opened and not looks_like_a_person(name) else name


def _belonging(name: str, rest: str) -> str:
    """What of the text after a name belongs to it: "'s Company", " (The Book)", ". 3 in A major", or nothing."""
    if name.endswith(" No") and (numbered := _NUMBERED.match(rest)):
        return numbered.group()
    if bracket := _IN_BRACKETS.match(rest):
        return bracket.group()
    possessed = _POSSESSED.match(rest)
    if possessed and " " not in name and not any(map(is_person, possessed[1].split())):
        return possessed.group() + _belonging(possessed[1], rest[possessed.end() :])
    return against.group() if (against := _AGAINST.match(rest)) else ""


def _stands_alone(name: str, found: list[str], text: str) -> bool:
    for longer in found:
        if name != longer and name in longer:
            text = text.replace(longer, " ")
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


@lru_cache
def _thing_stems() -> frozenset[str]:
    return stems(data("claim_questions")["works"].replace("|", " ") + " " + data("claim_questions")["no_persons"])
