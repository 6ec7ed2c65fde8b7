"""What of a claim its evidence does not mention: signals that need no model, each a plain count over words.

A judge as small as ours is easily taken in by evidence that shares most words with the claim. Which names and words the
evidence lacks says more about claims over several pages than the judge does (docs/judge.md has the figures).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from app.modules.wording import names, normalised, stems

SIGNALS = ("words_missing", "words_missing_on_a_page", "names_missing", "pairs_shared", "negated", "negated_alone")
"""The names of the signals, in the order in which `signals` returns them."""

MOST_COUNTED = 4.0
_NEGATION = re.compile(r"\b(?:not|never|no|neither|nor|without|only|none|cannot)\b|n['’]t\b", re.IGNORECASE)


def signals(claim: str, passages: Sequence[tuple[str, str]]) -> tuple[float, ...]:
    """One number for each of SIGNALS; `passages` are (title, text) pairs.

    Of the claim's words, and of its pairs of neighbouring words, a share in [0, 1]; names are counted, at most 4; the
    last two are 0 or 1: the claim denies something, and it alone does. Numbers count as names (wording.py). Missing
    words count once more where the evidence is a single passage: claims over several are worded more freely.
    """
    evidence = " ".join(f"{title}. {text}" for title, text in passages)
    told, said = stems(evidence), stems(claim)
    negated = denies(claim)
    missing = len(said - told) / len(said) if said else 0.0
    return (
        missing,
        missing if len(passages) == 1 else 0.0,
        min(float(sum(not stems(name) <= told for name in names(claim))), MOST_COUNTED),
        _pairs_shared(claim, evidence),
        float(negated),
        float(negated and not denies(evidence)),
    )


def denies(text: str) -> bool:
    """Whether a word of denial stands in the text."""
    return bool(_NEGATION.search(text))


def _pairs_shared(claim: str, evidence: str) -> float:
    """How many of the claim's pairs of neighbouring words stand side by side in the evidence, too."""
    wanted = list(pairwise(normalised(claim).split()))
    there = set(pairwise(normalised(evidence).split()))
    return sum(pair in there for pair in wanted) / len(wanted) if wanted else 0.0
