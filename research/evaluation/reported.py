"""The figures that the papers report, each with its table, row, column and measure.

QACheck (Pan et al., EMNLP 2023 demos, arXiv 2310.07609), Table 1, whose rows of other systems are from Pan et al. (ACL
2023); Papelo (Malon, FEVER 2024, arXiv 2411.05762), Tables 1 to 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Measure = Literal["macro_f1", "supported", "refuted", "not_enough", "conflicting", "accuracy", "averitec", "share"]
"""`supported`, `refuted`, `not_enough` and `conflicting` are the F1 of a class, `averitec` is the AVeriTeC score at
0.25, and `share` the share of rows with a label."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A figure of a paper; `table` and `row` are names of paper_tables.py."""

    table: str
    row: str
    column: str  # HoVer's hops ("2", "3", "4"), "FEVEROUS-S", or of AVeriTeC "dev 200", "dev", "test", "train"
    measure: Measure
    value: float  # in [0, 1], not per cent


_QACHECK = {
    "direct": (56.51, 51.75, 49.68, 60.13),
    "chain-of-thought": (57.20, 53.66, 51.83, 61.05),
    "codex": (55.57, 53.42, 45.59, 57.85),
    "flan-t5-alone": (48.27, 52.11, 51.13, 55.16),
    "programfc": (54.27, 54.18, 52.88, 59.66),
    "reciter-reader": (55.67, 54.67, 52.35, 59.47),
}
"""Macro-F1 in per cent on HoVer with two, three and four hops, and on FEVEROUS-S."""

_LABELS = {
    "SUPPORTED": (27.7, 24.4),
    "REFUTED": (56.8, 61.0),
    "NOT_ENOUGH_EVIDENCE": (9.2, 7.0),
    "CONFLICTING_EVIDENCE": (6.4, 7.6),
}
"""Per cent of AVeriTeC's claims in its training and development sets."""

_ABLATED = {
    "all-at-once": (0.591, 0.813, 0.705, 0.340),
    "llm+llm": (0.644, 0.821, 0.720, 0.385),
    "seq+seq": (0.638, 0.816, 0.715, 0.370),
    "four-class": (0.486, 0.593, 0.415, 0.245),
    "no-late-verdict": (0.643, 0.811, 0.705, 0.450),
    "no-long-doc": (0.577, 0.819, 0.705, 0.465),
    "multi-doc": (0.673, 0.837, 0.735, 0.460),
    "no-metadata": (0.575, 0.810, 0.700, 0.410),
    "no-paraphrase": (0.701, 0.839, 0.745, 0.225),
    "repeat": (0.624, 0.813, 0.710, 0.340),
    "paper": (0.716, 0.841, 0.750, 0.495),
}
"""F1 of supported and of refuted, accuracy, and AVeriTeC score at 0.25, on the first 200 development claims."""

_OPEN_CLASSES = {"four-class": (0.148, 0.069)}
"""F1 of not enough and of conflicting evidence; 0 for systems with two labels."""

_FULL = {"algorithm-1": 0.486, "inflate-to-ten": 0.510}
"""AVeriTeC score on the development set. Both systems give the same labels, hence the same figures below."""
_FULL_LABELS: dict[Measure, float] = {"supported": 0.698, "refuted": 0.853, "accuracy": 0.754}
_TEST = {"algorithm-1": 0.445, "inflate-to-ten": 0.477}


def _qacheck() -> Iterator[Reported]:
    for row, figures in _QACHECK.items():
        for column, value in zip(("2", "3", "4", "FEVEROUS-S"), figures, strict=True):
            yield Reported("qacheck-1", row, column, "macro_f1", round(value / 100, 4))


def _papelo() -> Iterator[Reported]:
    for row, shares in _LABELS.items():
        for column, value in zip(("train", "dev"), shares, strict=True):
            yield Reported("papelo-1", row, column, "share", round(value / 100, 3))
    measures: tuple[Measure, ...] = ("supported", "refuted", "accuracy", "averitec")
    for row, figures in _ABLATED.items():
        for measure, value in zip(measures, figures, strict=True):
            yield Reported("papelo-2", row, "dev 200", measure, value)
        not_enough, conflicting = _OPEN_CLASSES.get(row, (0.0, 0.0))
        yield Reported("papelo-2", row, "dev 200", "not_enough", not_enough)
        yield Reported("papelo-2", row, "dev 200", "conflicting", conflicting)
    for row, value in _FULL.items():
        yield Reported("papelo-3", row, "dev", "averitec", value)
        yield from (Reported("papelo-3", row, "dev", measure, share) for measure, share in _FULL_LABELS.items())
    yield from (Reported("papelo-3", row, "test", "averitec", value) for row, value in _TEST.items())


REPORTED = (*_qacheck(), *_papelo())


def reported_for(table: str, row: str, column: str, measure: Measure) -> float | None:
    """Return the paper's figure; None where it reports none."""
    found = (
        each.value
        for each in REPORTED
        if (each.table, each.row, each.column, each.measure) == (table, row, column, measure)
    )
    return next(found, None)
