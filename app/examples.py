"""Claims to try on the home page, which the embedded corpus can decide or plainly cannot.

They come in pairs of true and false twins where one word makes the difference. None occurs in a demonstration or in
training data; benchmarks/samples.py checks them all and says which come out right.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.model import Label

_S, _R, _N = Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, the label that the corpus gives it, how many hops it takes, and its twin's number (0: no twin)."""

    claim: str
    label: Label
    hops: int
    pair: int = 0


EXAMPLES = (
    Example("Mount Everest lies in the Himalayas.", _S, 1, 1),
    Example("Mount Everest lies in the Andes.", _R, 1, 1),
    Example("The author of The Metamorphosis was born in Prague.", _S, 2, 2),
    Example("The author of The Metamorphosis was born in Vienna.", _R, 2, 2),
    Example("The composer of Swan Lake died in 1893.", _S, 2, 3),
    Example("The composer of Swan Lake died in 1921.", _R, 2, 3),
    Example("Charles Darwin was born before Albert Einstein.", _S, 2, 4),
    Example("Albert Einstein was born before Charles Darwin.", _R, 2, 4),
    Example("The director of Seven Samurai made 30 feature films.", _S, 2),
    Example("The Starry Night was painted by a Norwegian artist.", _R, 1),
    Example("Leo Tolstoy kept a white parrot in his study.", _N, 1),
    Example("The author of Moby-Dick was left-handed.", _N, 2),
)
