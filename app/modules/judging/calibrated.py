"""Combine the judge's probabilities with signals of missing evidence into calibrated probabilities.

Two logistic decisions, fitted after training on pairs that the judge never saw (research/training/joining.py):
supported against not supported; and, if not supported, refuted against not enough. Both are linear in the judge's own
log-odds and the signals.
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

# The signals are word counts and need no model. A small judge is easily misled by evidence that shares most words with
# the claim. For claims over several pages, the names and words that the evidence lacks predict the label better than
# the judge does (docs/judge.md has the figures).

SIGNALS = ("words_missing", "words_missing_on_a_page", "names_missing", "pairs_shared", "negated", "negated_alone")
"""The names of the signals, in the order in which `signals` returns them."""

MOST_COUNTED = 4.0
_NEGATION = re.compile(r"\b(?:not|never|no|neither|nor|without|only|none|cannot)\b|n['’]t\b", re.IGNORECASE)


def signals(claim: str, passages: Sequence[tuple[str, str]]) -> tuple[float, ...]:
    """Return one number for each of SIGNALS; `passages` are (title, text) pairs.

    Missing words and shared pairs of adjacent words are shares in [0, 1]; missing names are counted, at most 4; the
    last two are 0 or 1: the claim contains a negation, and it does while the evidence contains none. Numbers count as
    names (wording.py). Missing words count a second time for a single passage, because claims over several passages
    are worded more freely.
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
    """Return whether the text contains a negation."""
    return bool(_NEGATION.search(text))


def _pairs_shared(claim: str, evidence: str) -> float:
    """Return the share of the claim's pairs of adjacent words that are adjacent in the evidence too."""
    wanted = list(pairwise(normalised(claim).split()))
    there = set(pairwise(normalised(evidence).split()))
    return sum(pair in there for pair in wanted) / len(wanted) if wanted else 0.0


JUDGE, BIAS = "judge", "bias"
LEAST = 1e-6
"""Lower bound on a probability before its logarithm is taken."""

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Joint:
    """The weights of both decisions, keyed by input: "bias", "judge" and the SIGNALS.

    A `temperature` below 1 sharpens the three resulting probabilities; one above 1 flattens them.
    """

    supported: Weights
    refuted: Weights
    temperature: float = 1.0

    @classmethod
    def read(cls, file: Path) -> Joint:
        """Read the weights from a JSON file. Raises ModelUnavailable if it is missing, damaged or for other signals."""
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
    """Implements `EntailmentModel` by calibrating another one."""

    judge: EntailmentModel
    joint: Joint

    def classify(self, pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[tuple[float, float, float]]:
        """Return the probabilities of (supports, refutes, not enough) for each (claim, (title, text) passages) pair."""
        return [
            joined(self.joint, raw, signals(claim, passages))
            for raw, (claim, passages) in zip(self.judge.classify(pairs), pairs, strict=True)
        ]


def joined(joint: Joint, raw: Sequence[float], found: Sequence[float]) -> tuple[float, float, float]:
    """Combine the judge's probabilities `raw` and the signals `found` into three probabilities that sum to 1."""
    supported = _decided(joint.supported, log_odds(raw[0], raw[1] + raw[2]), found)
    refuted = _decided(joint.refuted, log_odds(raw[1], raw[2]), found)
    whole = (supported, (1 - supported) * refuted, (1 - supported) * (1 - refuted))
    raised = [max(each, LEAST) ** (1 / joint.temperature) for each in whole]
    return raised[0] / sum(raised), raised[1] / sum(raised), raised[2] / sum(raised)


def log_odds(one: float, other: float) -> float:
    """Return the natural logarithm of `one` over `other`, each at least LEAST."""
    return math.log(max(one, LEAST) / max(other, LEAST))


def _decided(weights: Weights, judged: float, found: Sequence[float]) -> float:
    total = weights[BIAS] + weights[JUDGE] * judged
    total += sum(weights[name] * value for name, value in zip(SIGNALS, found, strict=True))
    return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))
