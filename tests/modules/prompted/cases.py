"""Kept hops shared by the tests of the prompted modules, and texts that no module may accept as an answer."""

from __future__ import annotations

from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, Span

CLAIM = Claim("The author of Emma was born in Hampshire.")

REFUSAL = "I'm sorry, I can't help with that"
ESSAY = "word " * 3_000


def hop(number: int, question: str, text: str | None, evidence: str = "", status: HopStatus = HopStatus.KEPT) -> Hop:
    """Return a closed hop whose answer is found in `evidence`, if there is any."""
    cited = None
    if text is not None and evidence:
        start = evidence.index(text)
        cited = Span(Passage(evidence, "Emma", "A corpus"), start, start + len(text))
    return Hop(number, Question(question), Answer(text, cited), status)


AUTHOR = hop(1, "Who wrote Emma?", "Jane Austen", "Emma is a novel by Jane Austen. It was published in 1815.")
BIRTH = hop(3, "Where was Jane Austen born?", "Steventon", "Jane Austen was born in Steventon, Hampshire.")
IN_VAIN = hop(2, "When was Emma filmed?", None, status=HopStatus.SET_ASIDE)
