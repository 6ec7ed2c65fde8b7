"""What remains of a claim once some of its questions are answered.

"Conakry is the capital of a country that borders Senegal on its northern side." becomes, once Conakry's country is
known, "Guinea borders Senegal on its northern side.", a claim about one thing, which the local model asks and judges
better. It rewrites the claim with an adapter trained for that alone (research/training/remaining.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.domain.model import Claim, Hop, HopStatus, Passage
from app.domain.ports import TranscriptModel
from app.modules.judging import is_grounded, truth
from app.modules.transcript import before_remaining
from app.text.wording import normalised, stems

MAX_TOKENS = 60
MIN_ANSWER_PROBABILITY = 0.7
"""Least probability that the cited passage gives the answer; with a wrong one, the verdict is on another thing."""
MIN_FOLLOWING_PROBABILITY = 0.05
"""Least probability that the rewriting is true where claim and answer are.

"Johannes Brahms was born in Hamburg." with the answer "Germany" does not make "Germany is a city in Hamburg."
(research/notes/2026-11-29-rewritings-that-follow.md).
"""


@dataclass(frozen=True, slots=True)
class Remaining:
    """The claim that remains, the hops that are about it, and those whose answers it was rewritten with."""

    claim: Claim
    hops: tuple[Hop, ...]
    settled: tuple[Hop, ...] = ()


Reduce = Callable[[Claim, Sequence[Hop]], Remaining]


def unreduced(claim: Claim, hops: Sequence[Hop]) -> Remaining:
    return Remaining(claim, tuple(hops))


@dataclass(frozen=True)
class ClaimReducer:
    """Implements `Reduce` with a local model. Propagates the model's errors; holds no state.

    `rewriter` is the model with the adapter for it, `judge` the one with the transcript's.
    """

    rewriter: TranscriptModel
    judge: TranscriptModel

    def __call__(self, claim: Claim, hops: Sequence[Hop]) -> Remaining:
        """Rewrite the claim with the answer of each kept hop, in their order, where its passage confirms it."""
        text, settled = claim.text, []
        for hop in hops:
            found = self._rewritten(text, hop) if hop.status is HopStatus.KEPT else None
            if found and self._is_confirmed(hop) and self._follows(found, text, hop):
                text = found
                settled.append(hop)
        return Remaining(replace(claim, text=text), tuple(hop for hop in hops if hop not in settled), tuple(settled))

    def _rewritten(self, claim: str, hop: Hop) -> str | None:
        question, answer = hop.question.text, hop.answer_text or ""
        if not answer:
            return None
        prompt = before_remaining(claim, question, answer)
        found = self.rewriter.complete(prompt, max_tokens=MAX_TOKENS, stop=("\n",)).strip()
        # A sentence that only says the answer again would be true whatever the claim is.
        is_new = normalised(found) != normalised(claim) and not stems(found) <= stems(f"{question} {answer}")
        # The answer "same" has no full stop.
        is_whole = found.endswith(".") and is_grounded(found, f"{claim} {question} {answer}")
        return found if is_new and is_whole else None

    def _is_confirmed(self, hop: Hop) -> bool:
        if hop.answer is None or hop.answer.cited is None:
            return False
        passage = hop.answer.cited.passage
        return truth(self.judge, f"{hop.question.text} {hop.answer_text}", passage) >= MIN_ANSWER_PROBABILITY

    def _follows(self, found: str, claim: str, hop: Hop) -> bool:
        known = Passage(f"{claim} {hop.question.text} {hop.answer_text}.", "Known", "")
        return truth(self.judge, found, known) >= MIN_FOLLOWING_PROBABILITY
