"""A light reading of long sentences: what they describe without naming it, and what they say of whom.

"The actress that plays Kaylee Frye in Firefly also stars with Alan Dale" has a description with a relative clause in
it, which ends where the main verb begins. No tagger is at work: verbs are known by their form and by a list (prompts/),
so some readings are wrong; docs/questions.md says how often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from app.modules.prompts import data
from app.modules.wording import NAME, names, stems
from app.text.sentences import ABBREVIATED

MOST_BEFORE_NOUN = 7
"""Words between the article and the noun of a description, at most."""

_TOKEN = re.compile(
    rf"[\"“][^\"”]+[\"”]|(?:\b[A-Z]\.)+(?=\s)|\b(?:{'|'.join(ABBREVIATED)})\.(?=\s)"
    r"|[^\s,;:.!?()]+(?:[.:](?=\w)[^\s,;:.!?()]+)*|[,;:.!?()]"
)
_RELATIVES = frozenset("who whom whose that which where".split())
_BE = frozenset("is was are were".split())
_PREPOSITIONS = frozenset(
    "in on at by for from with of to as about after before near into under over against through during between".split()
)
_ARTICLES = frozenset("the a an his her its their this these".split())
_RANKED = re.compile(r"(?:first|second|third|fourth|fifth|last|only|\d+(?:st|nd|rd|th)|most|[a-z]+est)\b")
_ADVERB = re.compile(
    r"(?:also|not|both|later|formerly|originally|previously|once|never|now|then|(?!family$|assembly$|monopoly$)[a-z]+ly)$"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a quotation or a mark, with the characters [start, end) of the text that it takes."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is a plain word in lower case."""
        return bool(re.fullmatch(r"[a-z][\w’'-]*", self.text))

    @property
    def names(self) -> bool:
        """Whether it is a name, a quotation or a number, by its first letter."""
        return self.text[0].isupper() or self.text[0].isdigit() or self.text[0] in '"“'


@dataclass(frozen=True, slots=True)
class Description:
    """Characters [start, end) that describe what `noun` calls it ("biographical film"); `question` asks for its name.

    `definite` says that it begins with "the", so that there is one such thing.
    """

    start: int
    end: int
    noun: str
    question: str
    definite: bool


def tokens(text: str) -> list[Token]:
    """The words, quotations and marks of `text`, in order."""
    return [Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def is_verb(words: list[Token], at: int) -> bool:
    """Whether a finite verb stands at `at`: a form of be or have, a known verb, or a word in -ed after a noun."""
    word, before = words[at].text, words[at - 1] if at else None
    if word in _BE or word in ("has", "had", "have"):
        return True
    if before is not None and before.text.casefold() in _ARTICLES | _PREPOSITIONS:
        return False
    if word in _verb_forms():
        return True
    return bool(re.fullmatch(r"(?:co-)?[a-z]{2,}[^e\W]ed", word)) and before is not None


def is_link(word: str) -> bool:
    """Whether a noun phrase ends before `word`: a preposition, a relative, "and", "or", "but" or an adverb."""
    return word in _PREPOSITIONS | _RELATIVES | {"and", "or", "but", "than", "do", "does", "did"} or bool(
        _ADVERB.match(word)
    )


def is_person(noun: str) -> bool:
    """Whether a noun phrase is one for a person, by its last word."""
    last = noun.split()[-1].casefold() if noun.split() else ""
    known = data("claim_questions")["persons"].split("|") + data("clauses")["persons"]
    return last in known or any(last == f"{person}s" for person in known)


def descriptions(text: str) -> Iterator[Description]:
    """The descriptions that tell enough to be looked up: with a clause that holds a name. From the left."""
    words = tokens(text)
    at = 0
    while at < len(words):
        found = _innermost(text, words, at)
        if found is None:
            at += 1
        else:
            yield found
            at = next((i for i, word in enumerate(words) if word.start >= found.end), len(words))


def _innermost(text: str, words: list[Token], at: int) -> Description | None:
    """The description at `at`, or the one inside it that has all the names by which anything can be found."""
    whole = _description(text, words, at)
    if whole is None:
        return None
    for inside in range(at + 3, len(words)):
        inner = _description(text, words, inside) if words[inside].end < whole.end else None
        if inner and inner.end <= whole.end:
            rest = tokens(text[whole.start + len(whole.noun) + 4 : inner.start] + text[inner.end : whole.end])
            return whole if any(word.names for word in rest) else inner
    return whole


def _description(text: str, words: list[Token], at: int) -> Description | None:
    """The description that begins with the article at `at`, or None."""
    if words[at].text.casefold() not in ("the", "a", "an"):
        return None
    clause = _clause_after(words, at + 1)
    if clause is None or not (words[clause - 1].is_word or words[clause - 1].text[-1] in "0123456789"):
        return None
    end = _end_of_clause(words, clause)
    if not any(word.names and not word.text[0].isdigit() for word in words[clause:end]):
        return None
    last = clause - 1 - (clause > at + 2 and bool(_ADVERB.match(words[clause - 1].text)))
    noun = text[words[at + 1].start : words[last].end]
    said = text[words[clause].start : words[end - 1].end]
    question = _asked(noun, words[clause:end], said)
    return Description(words[at].start, words[end - 1].end, noun, question, words[at].text.casefold() == "the")


def _clause_after(words: list[Token], at: int) -> int | None:
    """Where the clause of a description begins whose first word after the article is at `at`; None: there is none."""
    for i in range(at + 1, min(at + MOST_BEFORE_NOUN + 1, len(words) - 1)):
        word, after = words[i].text, words[i + 1].text
        if word in _RELATIVES or (word in _PREPOSITIONS and after in ("which", "whom")):
            return i
        if _is_participle(word) and after in _PREPOSITIONS | {"where"} and words[i - 1].is_word:
            return i
        if word in _BE or not re.fullmatch(r"[\w’'-]+", word) or word in _PREPOSITIONS:
            return None
    return None


def _is_participle(word: str) -> bool:
    return bool(re.fullmatch(r"(?:co-)?[a-z]{2,}ed|born|held|written|made|known|sung|won|found|built|run|led", word))


def _end_of_clause(words: list[Token], clause: int) -> int:
    """The index after a clause's last word: before the main verb, a comma or a second predicate, else the full stop."""
    own_verb_open = not _is_participle(words[clause].text) or words[clause + 1].text == "where"
    for i in range(clause + 1, len(words)):
        word, before = words[i].text, words[i - 1].text
        if (word in ",;:!?()." or (word in ("that", "who") and before in _PREPOSITIONS)) and not own_verb_open:
            return i
        if word == "and" and i + 1 < len(words) and not own_verb_open and is_verb(words, i + 1):
            return i
        if not is_verb(words, i) or before in _BE | {"has", "had", "have"}:
            continue
        if own_verb_open:
            own_verb_open = False
        elif before not in _RELATIVES and not (_is_participle(word) and _modifies(words, i)):
            return i - 1 if _ADVERB.match(before) else i
    return len(words)


def _modifies(words: list[Token], at: int) -> bool:
    """Whether a word in -ed belongs to the noun before it: "film directed by", "song released in" before a verb."""
    after = words[at + 1].text if at + 1 < len(words) else ""
    later = any(is_verb(words, i) and not _is_participle(words[i].text) for i in range(at + 1, len(words)))
    return after == "by" or (after in _PREPOSITIONS and later)


def _asked(noun: str, clause: list[Token], said: str) -> str:
    """The question for the name of what is described."""
    who = "Who" if noun in ("one", "man", "woman", "person") else f"Which {noun}"
    if _RANKED.match(noun):
        return f"{'Who' if is_person(noun) else 'What'} was the {noun} {said}?"
    first, second = clause[0].text, clause[1].text if len(clause) > 1 else ""
    if _is_participle(first):
        return f"{who} was {said}?" if second != "where" else f"What is the {noun} {said}?"
    if first in ("who", "that", "which") and is_verb([clause[0], *clause[1:]], 1 + bool(_ADVERB.match(second))):
        return f"{who} {said.split(' ', 1)[1]}?"
    plural = noun.endswith("s") and not noun.endswith(("ss", "series"))
    return f"{'Who' if is_person(noun) else 'What'} {'are' if plural else 'is'} the {noun} {said}?"


@lru_cache
def _verb_forms() -> frozenset[str]:
    facts = data("claim_questions")
    known = [*facts["past"], *facts["past_with_object"].split("|"), *data("clauses")["verbs"], *data("clauses")["past"]]
    return frozenset(word for word in known if " " not in word)


# Names as whole as the claim writes them: titles with an apostrophe, a bracket, "No." or small words in them.
#
# `wording.names` takes capitalised words, which is what answers and evidence are compared by. Who looks a title up
# needs all of it: "Three's Company" and not "Three".

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
