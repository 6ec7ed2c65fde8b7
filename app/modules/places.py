"""Which places exclude each other: Berlin and Paris do, Europe and Paris do not, for one may lie in the other.

The names of countries and continents are those of the Unicode CLDR (Babel); what neither it nor `words.json` knows is
taken for a town or the like. Places of different size say nothing against each other, for nothing here knows what lies
in what.
"""

from __future__ import annotations

import re
from functools import lru_cache

from app.modules.prompts import data
from app.modules.wording import normalised

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
