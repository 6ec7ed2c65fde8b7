"""Every description of something unnamed in a sentence, by a pattern or by its clause, with the question for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.modules import clauses
from app.modules.claim_patterns import filled, patterns
from app.modules.clauses import Description, is_link


def descriptions_in(text: str) -> list[Description]:
    """Every description of something unnamed in `text`, from the left; of overlapping ones the longest reading."""
    taken = list(_by_pattern(text))
    for each in clauses.descriptions(text):
        inside = [other for other in taken if each.start <= other.start and other.end <= each.end]
        if any(other.start < each.end and each.start < other.end for other in taken if other not in inside):
            continue
        if all(other.end < each.end for other in inside):
            taken = [other for other in taken if other not in inside] + [each]
    return sorted(taken, key=lambda each: each.start)


def _by_pattern(text: str) -> Iterator[Description]:
    """The descriptions that a pattern reads whole; of overlapping ones the first pattern's."""
    taken: list[tuple[int, int]] = []
    for pattern, (ask,) in patterns("descriptions"):
        for match in pattern.finditer(text):
            free = all(match.end() <= start or end <= match.start() for start, end in taken)
            if free and _ends_well(text, match.end()):
                taken.append(match.span())
                yield Description(*match.span(), match.groupdict().get("n", ""), filled(ask, match), True)


def _ends_well(text: str, end: int) -> bool:
    """Whether a phrase may end here: no further noun follows ("the subject of the 2014 | documentary")."""
    if re.search(r"\b(?:who|that|which|whose|where)$", text[:end]):
        return False
    rest = clauses.tokens(text[end:])
    if not rest or not rest[0].is_word:
        return True
    return is_link(rest[0].text) or clauses.is_verb(rest, 0)
