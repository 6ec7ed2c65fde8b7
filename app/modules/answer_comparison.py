"""Decide claims that compare two values, such as "Charles Darwin was born before Albert Einstein.", by arithmetic.

The values are the answers to two questions that differ only in their names ("When was Charles Darwin born?"). Years are
compared with years, and amounts with amounts of the same unit. Claims about the difference ("100 years before") and all
others are left to the judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from babel.numbers import NumberFormatError, parse_decimal

from app.domain.messages import Code
from app.domain.model import Claim, Context, Hop, Sentence
from app.text.wording import names

# What is "older" in years depends on what the year is: of birth, of death, of an age.
FIRST_IS_LESS = {
    "year": frozenset({"before", "earlier", "predates", "predate"}),
    "amount": frozenset({"fewer", "less", "smaller", "lower", "shorter", "shallower", "lighter", "younger"}),
}
FIRST_IS_MORE = {
    "year": frozenset({"after", "later"}),
    "amount": frozenset("more larger bigger greater higher taller longer deeper heavier older".split()),
}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_BC = r"B\.?\s?C\.?(?:E\b\.?)?"
_YEAR = re.compile(rf"(?<![\d.,])(?:(\d{{1,4}})\s*{_BC}(?!\w)|([12]?\d{{3}})\b(?!,\d|\s*years))")
_RANGE_END = re.compile(rf"(?:\s*[–—-]\s*(?:c\.\s*)?\d{{1,4}})?\s*{_BC}(?!\w)")
_ENDS_BC = re.compile(rf"\d\s*{_BC}(?!\w)")
_AMOUNT = re.compile(rf"(\d[\d,]*(?:\.\d+)?)\s*({'|'.join(SCALES)})?\s*([a-zA-Zµ°%²³]*)")
_COMPARES = re.compile(r"\b(?:than|before|after|predates?)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(r"\d|\b(?:twice|times|half|double|triple|years?|decades?|century|centuries)\b", re.IGNORECASE)
_ASKS_YEAR = re.compile(r"(?:when|(?:in )?(?:which|what) year)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never|no|neither|nor)\b|n[’']t\b")


@dataclass(frozen=True, slots=True)
class Value:
    """A year (negative before the common era) or an amount with its unit."""

    kind: str
    number: Decimal
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ComparedAnswers:
    """The computed order of two values."""

    holds: bool  # whether the claim gives the same order
    sentence: Sentence  # for the rationale


def compare_answers(claim: Claim, context: Context) -> ComparedAnswers | None:
    """Return the comparison of the first two kept answers that the claim compares; None if there are none."""
    if _NEGATION.search(claim.text):
        return None
    alike = (pair for pair in combinations(context, 2) if _form(pair[0]) == _form(pair[1]))
    return next(filter(None, (_compare(claim.text, *pair) for pair in alike)), None)


def _compare(claim: str, *pair: Hop) -> ComparedAnswers | None:
    one, other = sorted(pair, key=lambda hop: _place(claim, hop))
    begin, end = _place(claim, one), _place(claim, other)
    first, second = _value(one), _value(other)
    if begin < 0 or not _COMPARES.search(claim[begin:end]) or _DIFFERENCE.search(_without_names(claim, one, other)):
        return None
    if first is None or second is None or (first.kind, first.unit) != (second.kind, second.unit):
        return None
    # A word of amount may come before both names ("More people live in A than in B"), one of time does not.
    sign = _sign(claim[begin:] if first.kind == "year" else claim, first.kind)
    if not sign or first.number == second.number:
        return None
    is_less, claims_less = first.number < second.number, sign < 0
    less, more = (Code.IS_BEFORE, Code.IS_AFTER) if first.kind == "year" else (Code.IS_LESS, Code.IS_MORE)
    text = (less if is_less else more)(one=_text(one), other=_text(other))
    return ComparedAnswers(claims_less == is_less, Sentence(text, tuple(sorted((one.number, other.number)))))


def _form(hop: Hop) -> str:
    return _without_names(hop.question.text, hop)


def _without_names(text: str, *hops: Hop) -> str:
    for name in (name for hop in hops for name in names(hop.question.text)):
        text = text.replace(name, "_")
    return " ".join(text.casefold().split())


def _place(claim: str, hop: Hop) -> int:
    """Return the index in the claim of the question's first name; -1 if the claim or the question lacks one."""
    named = names(hop.question.text)
    return claim.casefold().find(named[0].casefold()) if named else -1


def _sign(text: str, kind: str) -> int:
    """Return -1 if `text` has words for a lower first value, 1 for a higher one, 0 for neither or both."""
    words = set(re.findall(r"[a-z]+", text.casefold()))
    less, more = bool(words & FIRST_IS_LESS[kind]), bool(words & FIRST_IS_MORE[kind])
    return more - less


def _value(hop: Hop) -> Value | None:
    text = _text(hop)
    if _ASKS_YEAR.match(hop.question.text):
        return _year(text)
    amount = _AMOUNT.search(text)
    if amount is None:
        return None
    try:
        number = parse_decimal(amount[1], locale="en_US")
    except NumberFormatError:
        return None
    return Value("amount", number * SCALES.get(amount[2] or "", 1), (amount[3] or "").casefold())


def _year(text: str) -> Value | None:
    """Return the first year in `text`; "BC" after a later year holds for it too ("384–322 BC")."""
    found = _YEAR.search(text)
    if found is None:
        return None
    is_bc = found[1] or _ENDS_BC.search(text, found.end())
    return Value("year", Decimal(found[1] or found[2]) * (-1 if is_bc else 1))


def _text(hop: Hop) -> str:
    """Return the answer, with "BC" if that follows it in its passage, alone or after the end of a range ("–322 BC")."""
    cited = hop.answer.cited if hop.answer else None
    found = _RANGE_END.match(cited.passage.text, cited.end) if cited else None
    return " ".join(f"{hop.answer_text}{found[0] if found else ''}".split())
