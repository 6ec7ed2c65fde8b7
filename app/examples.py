"""Example claims of the home page, with their labels by the embedded corpus.

None occurs in a prompt's demonstrations or in training data. benchmarks/samples.py measures how many come out right.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.model import Label

_S, _R, _N = Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE


@dataclass(frozen=True, slots=True)
class Example:
    """An example claim with its expected outcome."""

    claim: str
    label: Label
    hops: int  # needed to decide it
    pair: int = 0  # number of the pair of a true and a false claim; 0 for none


EXAMPLES = (
    Example("Mount Everest lies in the Himalayas.", _S, 1, 1),
    Example("Mount Everest lies in the Andes.", _R, 1, 1),
    Example("The Mona Lisa was painted by Leonardo da Vinci.", _S, 1, 2),
    Example("The Mona Lisa was painted by Michelangelo.", _R, 1, 2),
    Example("Isaac Newton was born before Albert Einstein.", _S, 2, 3),
    Example("Albert Einstein was born before Isaac Newton.", _R, 2, 3),
    Example("Charles Darwin was born before Albert Einstein.", _S, 2, 4),
    Example("Albert Einstein was born before Charles Darwin.", _R, 2, 4),
    Example("The director of Seven Samurai made 30 feature films.", _S, 2),
    Example("The Starry Night was painted by a Norwegian artist.", _R, 1),
    Example("Leo Tolstoy kept a white parrot in his study.", _N, 1),
    Example("The author of Moby-Dick was left-handed.", _N, 2),
)
