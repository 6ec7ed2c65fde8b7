"""The asked questions in other words, each in its turn (Papelo, arXiv 2411.05762, section 3.1).

Whose turn it is follows from how many were asked, not from what they brought: so the next ones are known beforehand,
and can be answered side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from app.reasoning.ahead import Ahead
from app.reasoning.errors import CallFailed
from app.reasoning.pairs import Pairs
from app.reasoning.roles import Paraphraser
from app.reasoning.types import Claim, Hop, Question

PARAPHRASES = 4
"""So many other wordings of a question are asked for at once (section 3.1)."""


@dataclass
class Rewordings:
    """The other wordings of one run. A call that failed stands until the turn in which it is told."""

    paraphraser: Paraphraser
    claim: Claim
    ahead: Ahead
    _words: dict[int, tuple[Question, ...] | CallFailed] = field(default_factory=dict)

    def next(self, base: Sequence[Hop], turn: int, trail: Pairs) -> tuple[Hop, Question] | None:
        """The hop of `base` whose turn it is, and its question in words that are new to `trail`; None without any.

        Raises CallFailed; the call is made anew when that hop's turn comes again.
        """
        try:
            return self._next(base, turn, trail)
        except CallFailed:
            self._words = {hop: words for hop, words in self._words.items() if not isinstance(words, CallFailed)}
            raise

    def foreseen(self, base: Sequence[Hop], turn: int, trail: Pairs, count: int) -> tuple[Question, ...]:
        """The next `count` of these questions, up to one that cannot be had; their wordings are asked side by side."""
        if not base:
            return ()
        for hop in (base[at % len(base)] for at in range(turn, turn + count)):
            if hop.number not in self._words:
                self.ahead.begin(("wordings", hop.number), partial(self._reworded, hop))
        hops = list(trail.hops)
        for at in range(turn, turn + count):
            try:
                found = self._next(base, at, Pairs(hops))
            except CallFailed:
                break
            if found is None:
                break
            hops.append(Hop(len(hops) + 1, found[1]))
        return tuple(hop.question for hop in hops[len(trail.hops) :])

    def _next(self, base: Sequence[Hop], turn: int, trail: Pairs) -> tuple[Hop, Question] | None:
        for at in range(turn, turn + len(base)):
            hop = base[at % len(base)]
            if question := next((each for each in self._wordings(hop) if trail.is_new(each)), None):
                return hop, question
        return None

    def _wordings(self, hop: Hop) -> tuple[Question, ...]:
        if hop.number not in self._words:
            try:
                self._words[hop.number] = self.ahead.take(("wordings", hop.number), partial(self._reworded, hop))
            except CallFailed as error:
                self._words[hop.number] = error
        words = self._words[hop.number]
        if isinstance(words, CallFailed):
            raise words
        return words

    def _reworded(self, hop: Hop) -> tuple[Question, ...]:
        return self.paraphraser.paraphrase(self.claim, hop.question, PARAPHRASES)
