"""What the kept hops offer as evidence, for the modules that judge it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop, Passage
from app.modules.wording import bare_title, stems

_COMPARES = re.compile(
    r"\b(?:both|same|than|before|after|older|younger|also|too|either|neither|as well|alike|share|shared|like)\b",
    re.IGNORECASE,
)
MOST_WEIGHED = 5
"""Passages that are weighed where fewer are cited: so many of what was looked at may join them."""


def passages_of(claim: Claim, context: Context) -> list[tuple[str, str]]:
    """The (title, text) of the passages that the kept answers cite, each passage once, in order.

    A hop whose answer cites nothing brings its question and answer as they stand. What only looks a name up is left
    out: that there is a Brazil says nothing of the Nile. Evidence that nobody asked for, a data set's, stays as it is.
    """
    found: dict[tuple[str, str], bool] = {}
    for hop in context:
        if hop.answer is None or hop.answer.text is None:
            continue
        cited = hop.answer.cited
        key = (cited.passage.title, cited.passage.text) if cited else ("", _statement(hop))
        found.setdefault(key, bool(hop.question.text))
    return _without_islands(claim, found)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of a verdict: the (title, text) of what is cited, and what joins it, with the hop that saw it."""

    cited: list[tuple[str, str]]
    added: list[tuple[Hop, Passage]]

    @property
    def passages(self) -> list[tuple[str, str]]:
        """The (title, text) of all that is weighed."""
        return [*self.cited, *((passage.title, passage.text) for _, passage in self.added)]


def gathered(claim: Claim, context: Context) -> Gathered:
    """All that is weighed for a verdict."""
    cited = passages_of(claim, context)
    return Gathered(cited, _further(claim, context, cited))


def _further(claim: Claim, context: Context, cited: Sequence[tuple[str, str]]) -> list[tuple[Hop, Passage]]:
    """What was looked at for kept hops and speaks of words of the claim that nothing `cited` mentions, with its hop.

    It must name what a cited passage is about, or be named there. The one with most such words comes first, until none
    is left that adds any, or MOST_WEIGHED are weighed in all: a question has one answer, but the page beside it often
    tells what the next question would have asked.
    """
    open_words = stems(claim.text).difference(*(_words(each) for each in cited))
    looked_at = {
        (each.title, each.text): (hop, each)
        for hop in reversed(context)
        for each in (hop.answer.retrieved if hop.answer else ())
        if each.text.strip()
    }
    tied = {key: found for key, found in looked_at.items() if any(is_linked(key, each) for each in cited)}
    added: list[tuple[Hop, Passage]] = []
    while tied and len(cited) + len(added) < MOST_WEIGHED:
        best = max(tied, key=lambda key: len(open_words & _words(key)))
        if not open_words & _words(best):
            break
        open_words = open_words - _words(best)
        added.append(tied.pop(best))
    return added


def _without_islands(claim: Claim, passages: Mapping[tuple[str, str], bool]) -> list[tuple[str, str]]:
    """Without what was asked for and shares with the claim no word but its own name, names no other and is not named.

    `passages` say of each whether it was asked for. Where the claim compares, each side stands for itself: all stay.
    """
    if len(passages) < 2 or _COMPARES.search(claim.text):
        return list(passages)
    said = stems(claim.text)
    return [
        one
        for one, asked in passages.items()
        if not (asked and one[0])
        or (said & _words(one)) - _title(one)
        or any(is_linked(one, other) for other in passages if other[0] != one[0])
    ]


def is_linked(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether one of two passages names what the other is about."""
    return any(bool(_title(a)) and _title(a) <= stems(b[1]) for a, b in ((one, other), (other, one)))


def _title(passage: tuple[str, str]) -> frozenset[str]:
    """The words of what the passage is about."""
    return stems(bare_title(passage[0]))


def _words(passage: tuple[str, str]) -> frozenset[str]:
    return stems(f"{passage[0]} {passage[1]}")


def _statement(hop: Hop) -> str:
    return f"{hop.question.text} {hop.answer.text if hop.answer else ''}".strip()
