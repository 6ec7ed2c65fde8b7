"""The judge's probabilities joined with what of the claim the evidence lacks: one calibrated decision.

Two logistic decisions, fitted after training on pairs that the judge never saw (research/training/joining.py):
supported against not; and, where not, refuted against not enough. Both are linear in the judge's own log-odds and the
signals.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from app.domain.errors import ModelUnavailable
from app.domain.ports import EntailmentModel
from app.modules.wording import names, normalised, stems

# What of a claim its evidence does not mention: signals that need no model, each a plain count over words.
#
# A judge as small as ours is easily taken in by evidence that shares most words with the claim. Which names and words
# the evidence lacks says more about claims over several pages than the judge does (docs/judge.md has the figures).

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


JUDGE, BIAS = "judge", "bias"
LEAST = 1e-6
"""Probabilities are kept this far from 0 and 1 before their log-odds are taken."""

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Joint:
    """The weights of both decisions, by the name of what they weigh: "bias", "judge" and the SIGNALS.

    The three probabilities that they come to are made surer (below 1) or less sure (above 1) by `temperature`.
    """

    supported: Weights
    refuted: Weights
    temperature: float = 1.0

    @classmethod
    def read(cls, file: Path) -> Joint:
        """From a JSON file. Raises ModelUnavailable when it is missing, damaged or about other signals."""
        try:
            written = json.loads(file.read_text(encoding="utf-8"))
            joint = cls(written["supported"], written["refuted"], float(written["temperature"]))
            if not all({JUDGE, BIAS, *SIGNALS} == set(weights) for weights in (joint.supported, joint.refuted)):
                raise ValueError("other signals")
        except (OSError, ValueError, KeyError, TypeError) as error:
            told = f"The judge's file {file.name} is missing or damaged"
            raise ModelUnavailable(told, "git checkout app/models") from error
        return joint


@dataclass(frozen=True)
class JoinedJudge:
    """Implements EntailmentModel over another one."""

    judge: EntailmentModel
    joint: Joint

    def classify(self, pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[tuple[float, float, float]]:
        """Probabilities of (supports, refutes, not enough) for each (claim, (title, text) passages) pair."""
        return [
            joined(self.joint, raw, signals(claim, passages))
            for raw, (claim, passages) in zip(self.judge.classify(pairs), pairs, strict=True)
        ]


def joined(joint: Joint, raw: Sequence[float], found: Sequence[float]) -> tuple[float, float, float]:
    """The judge's three probabilities `raw` and the signals `found`, as three probabilities that sum to 1."""
    supported = _decided(joint.supported, log_odds(raw[0], raw[1] + raw[2]), found)
    refuted = _decided(joint.refuted, log_odds(raw[1], raw[2]), found)
    whole = (supported, (1 - supported) * refuted, (1 - supported) * (1 - refuted))
    raised = [max(each, LEAST) ** (1 / joint.temperature) for each in whole]
    return raised[0] / sum(raised), raised[1] / sum(raised), raised[2] / sum(raised)


def log_odds(one: float, other: float) -> float:
    """The logarithm of how much likelier `one` is than `other`."""
    return math.log(max(one, LEAST) / max(other, LEAST))


def _decided(weights: Weights, judged: float, found: Sequence[float]) -> float:
    total = weights[BIAS] + weights[JUDGE] * judged
    total += sum(weights[name] * value for name, value in zip(SIGNALS, found, strict=True))
    return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))
