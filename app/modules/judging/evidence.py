"""Select the evidence of the kept hops, for the modules that judge a claim."""

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
"""Upper limit on the passages weighed in all, when retrieved passages are added to the cited ones."""


def passages_of(claim: Claim, context: Context) -> list[tuple[str, str]]:
    """Return the (title, text) of the passages that the kept answers cite, each passage once, in order.

    A hop whose answer cites no passage contributes its question and answer as text. Passages that only look a name up
    are left out: a passage on Brazil is no evidence about the Nile. Evidence without a question, such as that of a data
    set, is always kept.
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
    """The evidence of a verdict: cited passages as (title, text), and added passages with the hop that saw each."""

    cited: list[tuple[str, str]]
    added: list[tuple[Hop, Passage]]

    @property
    def passages(self) -> list[tuple[str, str]]:
        """Return the (title, text) of every passage that is weighed."""
        return [*self.cited, *((passage.title, passage.text) for _, passage in self.added)]


def gathered(claim: Claim, context: Context) -> Gathered:
    """Return every passage that is weighed for a verdict."""
    cited = passages_of(claim, context)
    return Gathered(cited, _further(claim, context, cited))


def _further(claim: Claim, context: Context, cited: Sequence[tuple[str, str]]) -> list[tuple[Hop, Passage]]:
    """Return retrieved passages that contain words of the claim missing from every `cited` one, each with its hop.

    A passage must name the subject of a cited passage, or its own subject must be named there. The passage with the
    most missing words is added first, until none adds any or MOST_WEIGHED are weighed in all. A hop cites one passage,
    but another retrieved one often answers the next question already.
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
    """Drop requested passages that are unrelated to the claim and to every other passage.

    `passages` maps each passage to whether a question requested it. A passage is dropped when it shares no word with
    the claim except its own name, and is not linked to another passage. All are kept for a claim that compares, since
    its sides are independent.
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
    """Return whether one of two passages names the subject of the other."""
    return any(bool(_title(a)) and _title(a) <= stems(b[1]) for a, b in ((one, other), (other, one)))


def _title(passage: tuple[str, str]) -> frozenset[str]:
    """Return the stems of the passage's subject."""
    return stems(bare_title(passage[0]))


def _words(passage: tuple[str, str]) -> frozenset[str]:
    return stems(f"{passage[0]} {passage[1]}")


def _statement(hop: Hop) -> str:
    return f"{hop.question.text} {hop.answer.text if hop.answer else ''}".strip()
