"""What a kept answer says about the very thing the claim says: the same, something else, or nothing comparable.

The answer the claim itself gives to a hop's question is what the claim holds beyond the question's words: "Tchaikovsky
died in 1921" holds "1921" beyond "When did Tchaikovsky die?". Only like is compared with like, years with years and
names with names.
"""

from __future__ import annotations

import re
from functools import lru_cache

from app.domain.model import Claim, Context, Hop
from app.modules.judging.calibrated import denies
from app.modules.judging.two_answers import ORDER, Finding, of_two_answers
from app.modules.judging.yes_no import statement
from app.modules.prompts import data
from app.modules.question_generator.denial import affirmed, is_denied
from app.modules.question_generator.rules import resolved_claim
from app.modules.wording import NAME, asked_for, names, normalised, stems

# Which places exclude each other: Berlin and Paris do, Europe and Paris do not, for one may lie in the other.
#
# The names of countries and continents are those of the Unicode CLDR (Babel); what neither it nor `words.json` knows is
# taken for a town or the like. Places of different size say nothing against each other, for nothing here knows what
# lies in what.

_CONTINENTS = frozenset(("002", "003", "005", "009", "142", "150", "AQ"))
"""Africa, North and South America, Oceania, Asia, Europe (UN M49), and Antarctica."""
_WORLD = "001"
_ADJECTIVE = re.compile(r"[A-Z][a-z]+(?:ish|ian|ese|ean|can|ch|ek|man)")


def territory(name: str) -> str:
    """The code of a country (ISO 3166) or part of the world (UN M49) that bears this name; empty for any other."""
    return _codes().get(_written_out(name), "")


def is_place(name: str) -> bool:
    """Whether it can be a place: "Oman" and "Bonn", and not "German"."""
    return bool(territory(name)) or not _ADJECTIVE.fullmatch(name)


def exclude_each_other(one: str, other: str) -> bool:
    """Whether nothing lies in both: two continents, two countries, or two places of which neither is one."""
    size = _size(one)
    if not size or size != _size(other):
        return False
    return not territory(one) or territory(one) != territory(other)


def _size(name: str) -> str:
    """ "continent", "country", "range", "ocean" or "place"; empty for what is in a country or has several: Wales."""
    code, plain = territory(name), normalised(name)
    for size, known in data("words")["sizes"].items():
        if plain in known:
            return str(size)
    if code.isdigit() and code not in _CONTINENTS:
        return ""
    return "continent" if code in _CONTINENTS else "country" if code else "place"


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    """Every English name, normalised, with its code; where two are usual, both."""
    from babel import Locale  # a tenth of a second, and no page waits for it

    found = dict(data("words")["territories"])
    for code, name in Locale("en").territories.items():
        if code != _WORLD:
            found |= dict.fromkeys(filter(None, map(_written_out, name.split(" ("))), code)
    return found


def _written_out(name: str) -> str:
    return normalised(name.replace("&", "and").replace("St.", "Saint"))


_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_LASTED = re.compile(r"(?:from )?(\d{4})(?: ?[-–] ?| to )(\d{4})\.?")
_NATIONALITY = re.compile(r"\b([A-Z][a-z]+(?:ish|ian|ese|ean|can|ch|ek|man)) [a-z]")
_IN_A_PLACE = re.compile(rf"\b(?:in|at|on|near|from|through|into) (?:the )?({NAME}(?:, {NAME})*)")
_ONE_OF_ITS_KIND = re.compile(r"What (?:is|was) the (?:capital|(?:chemical )?symbol|currency|official name) of ")
_LOOK_UP = re.compile(r"^(?:what|who|where) (?:is|was|are|were) (?:the )?")
_YES_NO = re.compile(r"(?:yes|no)\b", re.IGNORECASE)
ASKS_FOR_THE_CLAIM = 0.4
"""A yes/no question asks for what the claim says when so much of the words of both is shared (Jaccard)."""
ABOUT_THE_CLAIM = 0.6
"""A question asks what the claim says when so much of its words stands in the claim."""
NAMED_IN = 6
"""An answer of more words names much beside what was asked for, so that its names tell nothing."""


def findings(claim: Claim, context: Context) -> tuple[Finding, ...]:
    """Every comparison that can be made, at most one a hop, then that of two answers with each other."""
    found = [finding for place, hop in enumerate(context) if (finding := _of_hop(claim, context[:place], hop))]
    between = of_two_answers(claim, context)
    return (*found, between) if between else tuple(found)


def _of_hop(claim: Claim, before: Context, hop: Hop) -> Finding | None:
    answer = (hop.answer.text or "") if hop.answer else ""
    if (word := _YES_NO.match(answer)) and (asserted := statement(hop.question.text)):
        return _of_yes_or_no(claim, hop, word[0].casefold(), asserted)
    said = _said_by_claim(affirmed(resolved_claim(claim, before)), hop.question.text)
    found = _values(answer, hop.question.text)
    if not said or not found or (len(answer.split()) > NAMED_IN and not _in_numbers(hop.question.text)):
        return None
    borne_out = tuple(one for one in said if any(_same(one, other) for other in found))
    if not borne_out and not _speaks_against(said, found, hop):
        return None
    return _finding(claim, hop, borne_out, said)


def _finding(claim: Claim, hop: Hop, borne_out: tuple[str, ...], said: tuple[str, ...]) -> Finding:
    """That the answer is what was `said`, so far as it is `borne_out`, or something else, as the claim means it."""
    claimed, answer = borne_out or said, hop.answer.text if hop.answer else ""
    denied = is_denied(claim.text, claimed[0])
    values = " and ".join(claimed)
    says = f"The claim denies {values}" if denied else f"The claim says {values}"
    if borne_out and not denied:
        told = f"{says}, and so does hop {hop.number}."
    else:
        told = f"{says}; hop {hop.number} found {answer}."
    return Finding(bool(borne_out) != denied, told, (hop.number,), claimed)


def _of_yes_or_no(claim: Claim, hop: Hop, word: str, asserted: str) -> Finding | None:
    """Whether a yes or no to what the question asserts bears the claim out, where that is what the claim says."""
    said, asked = stems(claim.text), stems(asserted)
    if len(said & asked) < ASKS_FOR_THE_CLAIM * len(said | asked):
        return None
    same_way = denies(claim.text) == denies(asserted)
    told = f"Hop {hop.number} asked whether that is so, and found {word}."
    return Finding((word == "yes") == same_way, told, (hop.number,))


def _speaks_against(said: tuple[str, ...], found: tuple[str, ...], hop: Hop) -> bool:
    """Whether the other answer `found` speaks against the claim: an actor is born once, and is in many films.

    Of several values that the claim has, any may be the one that was asked about, and of several numbers found, too;
    but what lasted from one year to another began and ended in no other.
    """
    question, answer = hop.question.text, hop.answer.text if hop.answer else None
    if len(said) > 1:
        return False
    if lasted := _LASTED.fullmatch(answer or ""):
        return said[0].isdigit() and not int(lasted[1]) <= int(said[0]) <= int(lasted[2])
    if len(found) > 1 and _in_numbers(question):
        return False
    if asked_for(question) == "place":
        return not _is_cited(said[0], hop) and any(exclude_each_other(said[0], other) for other in found)
    of_one = bool(_ONE_OF_ITS_KIND.match(question)) and len(found) == 1
    return of_one or asked_for(question) not in ("thing", "") or question.startswith("What nationality")


def _is_cited(place: str, hop: Hop) -> bool:
    """Whether the passage that the answer stands in names this place as well: either may lie in the other."""
    cited = hop.answer.cited if hop.answer else None
    return cited is not None and f" {normalised(place)} " in f" {normalised(cited.passage.text)} "


def _said_by_claim(text: str, question: str) -> tuple[str, ...]:
    """What the claim itself answers to the question; empty when the question is about something else."""
    if question.startswith("What nationality"):
        return tuple(_NATIONALITY.findall(text))
    asked = stems(question)
    if _LOOK_UP.sub("", normalised(question)) in map(normalised, names(question)):
        return ()  # "What is Edvard Munch?" asks for nothing that a claim says of him
    if ORDER.search(text) or len(asked & stems(text)) < ABOUT_THE_CLAIM * len(asked):
        return ()
    kind = asked_for(question)
    part = {"person": _who_part, "place": _where_part}.get(kind, _whole)(text, question)
    said = tuple(value for value in _values(part, question) if normalised(value) not in normalised(question))
    # "a Norwegian artist" does not say who: only a name as people bear it is held against a person.
    return () if kind == "person" and not any(" " in value for value in said) else said


def _whole(text: str, _: str) -> str:
    return text


def _who_part(text: str, question: str) -> str:
    """The part of the claim that says who: what stands before the question's own words, or after "by"."""
    before, found, _ = text.partition(question.partition(" ")[2].rstrip("?"))
    return before if found else text.partition(" by ")[2]


def _where_part(text: str, question: str) -> str:
    """The parts of the claim that say where: after what is asked about, names that stand after "in" or its like."""
    about = next((name for name in names(question) if name in text), "")
    return "; ".join(_IN_A_PLACE.findall(text[text.find(about) + len(about) :]))


def _values(text: str, question: str) -> tuple[str, ...]:
    """The numbers of `text` when the question asks for a time or an amount, else its names without numbers."""
    if _in_numbers(question):
        return _numbers(text)
    found = tuple(name for name in names(text) if not _NUMBER.search(name))
    return tuple(filter(is_place, found)) if asked_for(question) == "place" else found


def _in_numbers(question: str) -> bool:
    return asked_for(question) in ("time", "amount")


def _numbers(text: str) -> tuple[str, ...]:
    return tuple(number.replace(",", "") for number in _NUMBER.findall(text))


def _same(one: str, other: str) -> bool:
    """Equal numbers, names of one country, or names of which one holds all words of the other."""
    if one[0].isdigit():
        return one == other
    if territory(one) and territory(one) == territory(other):
        return True
    return bool(stems(one)) and (stems(one) <= stems(other) or stems(other) <= stems(one))
