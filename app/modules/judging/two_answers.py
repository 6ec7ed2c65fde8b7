"""Two kept answers held against each other as the claim puts them: in order, in the same year, more and less."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop
from app.modules.prompts import data
from app.modules.question_generator.denial import is_denied
from app.modules.question_generator.rules import asked_of_sides
from app.modules.wording import names, same_question, stems

# What a comparison of an answer with the claim, or with another answer, comes to.


@dataclass(frozen=True, slots=True)
class Finding:
    """A comparison that could be made: whether it bears the claim out, in words for people, from which hops.

    `claimed` are the claim's own words that were compared.
    """

    agrees: bool
    told: str
    hops: tuple[int, ...]
    claimed: tuple[str, ...] = ()


ORDER = re.compile(r"\b(?:earlier than|before|after|later than)\b", re.IGNORECASE)
_SAME_YEAR = re.compile(r"\bthe same year\b", re.IGNORECASE)
_MORE = re.compile(r"\b(more|larger|bigger|longer|higher|taller|deeper|heavier|further|farther)\b[^.]*? than\b")
_LESS = re.compile(r"\b(less|fewer|smaller|shorter|lower|shallower|lighter|nearer|closer)\b[^.]*? than\b")
_AMOUNT = re.compile(r"(\d[\d,]*(?:\.\d+)?)(?: (million|billion))?(?:\s?([a-zA-Z²]+(?: [a-z]+)?))?")
_TIMES = {"": 1, "million": 10**6, "billion": 10**9}


def of_two_answers(claim: Claim, context: Context) -> Finding | None:
    """The comparison that the claim makes, where both its sides are answered in numbers of one kind."""
    return _of_order(claim, context) or _of_one_year(claim, context) or _of_amounts(claim, context)


def _of_order(claim: Claim, context: Context) -> Finding | None:
    """Two years that the claim puts in order, asked in the claim's order of names."""
    order = ORDER.search(claim.text)
    if not order:
        return None
    first, second = (_year_about(side, context) for side in (claim.text[: order.start()], claim.text[order.end() :]))
    if not first or not second or first[1] == second[1]:
        return None
    earlier = order[0].casefold() in ("before", "earlier than")
    told = f"Hop {first[0]} found {first[1]} and hop {second[0]} found {second[1]}."
    return _read(claim, order[0], (first[1] < second[1]) == earlier, told, (first[0], second[0]))


def _of_one_year(claim: Claim, context: Context) -> Finding | None:
    """Two years of which the claim says that they are the same."""
    same = _SAME_YEAR.search(claim.text)
    asked = asked_of_sides(claim, context) if same else []
    answered = [(hop.number, year) for each in asked for hop in context if (year := _year_of(hop, each))]
    if same is None or len(answered) != 2:
        return None
    (one, year), (other, other_year) = answered
    told = f"Hop {one} found {year} and hop {other} found {other_year}."
    return _read(claim, same[0], year == other_year, told, (one, other))


def _year_of(hop: Hop, question: str) -> int | None:
    return _only_year(hop) if same_question(question, hop.question.text) else None


def _year_about(side: str, context: Context) -> tuple[int, int] | None:
    """The hop and the year that answer "when" about a name on this side of the claim."""
    about = names(side)
    for hop in context:
        if (year := _only_year(hop)) and about and stems(about[-1]) <= stems(hop.question.text):
            return hop.number, year
    return None


def _only_year(hop: Hop) -> int | None:
    """The year in its answer, where there is one and no second."""
    years = re.findall(r"\b\d{3,4}\b", _text(hop))
    return int(years[0]) if len(years) == 1 else None


def _of_amounts(claim: Claim, context: Context) -> Finding | None:
    """Two amounts in one unit of which the claim says that the first is more, or less."""
    more, less = _MORE.search(claim.text), _LESS.search(claim.text)
    said = more or less
    if said is None or (more and less):
        return None
    asked = asked_of_sides(claim, context)
    answered = [(hop, found) for each in asked for hop in context if (found := _amount_of(hop, each))]
    if len(answered) != 2:
        return None
    (one, (amount, unit)), (other, (other_amount, other_unit)) = answered
    if unit != other_unit or amount == other_amount:
        return None
    told = f"Hop {one.number} found {_text(one)} and hop {other.number} found {_text(other)}."
    return _read(claim, said[0], (amount > other_amount) == bool(more), told, (one.number, other.number))


def _read(claim: Claim, said: str, holds: bool, told: str, hops: tuple[int, int]) -> Finding:
    """That the order or likeness which the claim puts as `said` holds, or the other way round where it is denied."""
    return Finding(holds != is_denied(claim.text, said), told, hops)


def _amount_of(hop: Hop, question: str) -> tuple[float, str] | None:
    """The first amount in its answer to the question, with its unit in one spelling, or ""."""
    found = _AMOUNT.search(_text(hop)) if same_question(question, hop.question.text) else None
    if found is None:
        return None
    unit = (found[3] or "").casefold()
    known = next((short for short, spelt in data("words")["units"].items() if unit in spelt), unit)
    return float(found[1].replace(",", "")) * _TIMES[found[2] or ""], known


def _text(hop: Hop) -> str:
    return (hop.answer.text or "") if hop.answer else ""
