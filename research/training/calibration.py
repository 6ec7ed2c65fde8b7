"""After training: the judge joined with the signals, its bound for "enough" fitted, all of it measured.

Everything is fitted and measured on pairs that the judge never saw, in folds: what measures a pair was fitted on the
others. Writes calibration.json and joined.json (what inference reads) and metrics.json (what the model card quotes)
beside the weights.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from app.backends.local.judge import CLASSES, Calibration, EntailmentJudge
from app.modules.judging.calibrated import Joint
from research.evaluation.metrics import auc, expected_calibration_error, macro_f1, risk_against_coverage
from research.training.checkpoints import replacing
from research.training.joining import Joining, joined_rows, signals_of
from research.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, SUPPORTED, Pair

BATCH = 16
MOST_PER_SOURCE = 100
"""Held-out pairs measured of each source: two cores take minutes over so many."""
FOLDS = 5
BOUNDS = np.arange(0.34, 0.9, 0.01)
NEXT_TO = 0.02
"""So much macro-F1 is given up for verdicts that are right more often."""

Probabilities = np.ndarray
"""[n, 3], in the order of CLASSES."""


def calibrate(base: Path, adapter: Path, pairs: Sequence[Pair], threads: int = 2) -> dict:
    """Fit and measure on the held-out pairs; the metrics. The others say how the signals weigh among themselves.

    The three files are written at the end, all or none of them (OSError). A temperature that calibration.json has had
    before is part of the judge that is joined.
    """
    before = Calibration()
    if (adapter / "calibration.json").is_file():
        before = Calibration.read(adapter)
    else:
        _write(adapter / "calibration.json", asdict(before))
    seen = [pair for pair in pairs if not pair.held_out]
    held = list(_sample([pair for pair in pairs if pair.held_out]))
    judge = EntailmentJudge(base, adapter, threads)
    whole = Version(judge, seen, held)
    fitted = replace(before, sufficient=_bound(held, whole.crossed))
    own = [pair for pair in held if _is_own(pair)]
    versions = {
        "claim_only": Version(judge, seen, own, without="passages"),
        "evidence_only": Version(judge, seen, own, without="claim"),
    }
    metrics = _metrics(held, whole, fitted) | {"by_source": _by_source(whole, versions, fitted)}
    with replacing(adapter) as fresh:
        _write(fresh / "joined.json", asdict(whole.joint()))
        _write(fresh / "calibration.json", asdict(fitted))
        _write(fresh / "metrics.json", metrics)
    return metrics


class Version:
    """The joined judge, whole or without the claim or the passages, so that a leak in a data set shows.

    `raw` are the judge's own [n, 3] probabilities of the held-out pairs, `crossed` the joined ones, each from the folds
    that it is not in, and `signals_alone` those of the signals beside a judge that knows nothing.
    """

    def __init__(self, judge: EntailmentJudge, seen: Sequence[Pair], held: Sequence[Pair], without: str = "") -> None:
        self.pairs = held
        self._held = [_without(pair, without) for pair in held]
        self._joining = Joining([_without(pair, without) for pair in seen])
        self._found = signals_of(self._held)
        self._folds = np.array([_fold(pair) for pair in held])
        self.raw = probabilities(judge, self._held)
        self.crossed = self._crossed(self.raw)
        self.signals_alone = self._crossed(np.full_like(self.raw, 1 / len(CLASSES)))

    def auc(self, source: str, rows: Probabilities) -> float | None:
        """Of supported against not over the source's own pairs; None where they are all of one kind."""
        at = [place for place, pair in enumerate(self.pairs) if pair.source == source and _is_own(pair)]
        supported = [self.pairs[place].label == SUPPORTED for place in at]
        return round(auc(rows[at, 0].tolist(), supported), 3) if len(set(supported)) == 2 else None

    def joint(self) -> Joint:
        """The joint decision from all held-out pairs."""
        return self._joining.fit(self._held, self.raw, self._found)

    def _crossed(self, raw: Probabilities) -> Probabilities:
        out = np.zeros_like(raw)
        for fold in range(FOLDS):
            inside, others = np.flatnonzero(self._folds == fold), np.flatnonzero(self._folds != fold)
            if not len(inside):
                continue
            joint = self._joining.fit([self._held[at] for at in others], raw[others], self._found[others])
            out[inside] = joined_rows(joint, raw[inside], self._found[inside])
        return out


def _without(pair: Pair, part: str) -> Pair:
    if part == "claim":
        return replace(pair, claim="")
    return replace(pair, passages=()) if part == "passages" else pair


def _fold(pair: Pair) -> int:
    """By what the evidence is about: claims about the same pages are fitted on or measured together."""
    about = " ".join(sorted(title for title, _ in pair.passages)) or pair.claim
    return hashlib.sha256(about.encode()).digest()[0] % FOLDS


def _sample(held: Sequence[Pair]) -> Iterator[Pair]:
    seen: Counter[str] = Counter()
    for pair in random.Random(0).sample(held, len(held)):
        seen[pair.source] += 1
        if seen[pair.source] <= MOST_PER_SOURCE:
            yield pair


def probabilities(judge: EntailmentJudge, pairs: Sequence[Pair]) -> Probabilities:
    """[n, 3] probabilities of `pairs`, in their order, computed in batches of similar length."""
    order = sorted(range(len(pairs)), key=lambda at: sum(len(text) for _, text in pairs[at].passages))
    out = np.zeros((len(pairs), len(CLASSES)))
    for start in range(0, len(order), BATCH):
        group = order[start : start + BATCH]
        out[group] = judge.classify([(pairs[at].claim, pairs[at].passages) for at in group])
    return out


def decided(rows: Probabilities, bound: float) -> list[str]:
    """The label that the reasoner gives to each row when it may say that the evidence is not enough."""
    labels = [CLASSES[row.argmax()] for row in rows]
    return [
        label if label == NOT_ENOUGH or row.max() >= bound else NOT_ENOUGH
        for label, row in zip(labels, rows, strict=True)
    ]


def _bound(held: Sequence[Pair], rows: Probabilities) -> float:
    """The highest bound whose macro-F1 over the three classes is next to the best: rather undecided than wrong."""
    clear = _clear(held)
    truth = [held[at].label for at in clear]
    found = {bound: macro_f1(decided(rows[clear], bound), truth) for bound in BOUNDS}
    return round(float(max(bound for bound, value in found.items() if value >= max(found.values()) - NEXT_TO)), 2)


def _clear(held: Sequence[Pair]) -> list[int]:
    """The places of the pairs that have one of the three classes."""
    return [at for at, pair in enumerate(held) if pair.label != NOT_SUPPORTED]


def _metrics(held: Sequence[Pair], whole: Version, fitted: Calibration) -> dict:
    clear = _clear(held)
    sure = whole.crossed[clear].max(axis=1)
    right = [CLASSES[whole.crossed[at].argmax()] == held[at].label for at in clear]
    return {
        "held_out": len(held),
        "sufficient": fitted.sufficient,
        "accuracy": round(float(np.mean(right)), 3),
        "calibration_error": round(expected_calibration_error(sure, right), 3),
        "risk_against_coverage": [
            [coverage, round(risk, 3)] for coverage, risk in risk_against_coverage(sure, right, steps=20)
        ],
    }


def _by_source(whole: Version, versions: dict[str, Version], fitted: Calibration) -> dict:
    """For each data set and number of hops: AUC of supported against not over its own pairs, and the F1s."""
    held, labels = whole.pairs, decided(whole.crossed, fitted.sufficient)
    found = {}
    for source in sorted({pair.source for pair in held if _is_own(pair)}):
        own = [at for at, pair in enumerate(held) if pair.source == source and _is_own(pair)]
        three_way = [at for at in _clear(held) if held[at].source.removesuffix("-lacking") == source]
        found[source] = {
            "n": len(own),
            "auc": whole.auc(source, whole.crossed),
            "auc_judge_alone": whole.auc(source, whole.raw),
            "auc_signals_alone": whole.auc(source, whole.signals_alone),
            **{f"auc_{name}": version.auc(source, version.crossed) for name, version in versions.items()},
            "macro_f1_supported": _macro_f1(
                [str(labels[at] == SUPPORTED) for at in own], [str(held[at].label == SUPPORTED) for at in own]
            ),
            "n_three_way": len(three_way),
            "macro_f1_three_way": _macro_f1([labels[at] for at in three_way], [held[at].label for at in three_way]),
        }
    return found


def _is_own(pair: Pair) -> bool:
    """Whether a data set says so itself that the pair is supported or is not: not-enough pairs are mostly made here."""
    return pair.label != NOT_ENOUGH and not pair.source.endswith("-swapped")


def _macro_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    return round(macro_f1(predicted, gold), 3)


def _write(file: Path, value: dict) -> None:
    file.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
