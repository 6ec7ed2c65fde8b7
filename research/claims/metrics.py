"""Metrics over whole runs: accuracy, precision and coverage of verdicts, kinds of errors, calibration, time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.claims.data import NOT_ENOUGH
from research.evaluation.metrics import expected_calibration_error
from research.evaluation.report import markdown_table

SUPPORTED, REFUTED = "SUPPORTED", "REFUTED"
DECIDED = (SUPPORTED, REFUTED)
CALIBRATION_BINS = 15


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim's gold label and the verdict of its run, None where the run failed."""

    label: str
    verdict: str | None
    confidence: float | None = None
    kind: str = ""
    group: str = ""
    style: str = ""
    hops: int = 1
    seconds: float = 0.0

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Outcome:
        """Read the fields from a stored run; other fields are ignored."""
        return cls(**{name: record[name] for name in cls.__slots__ if name in record})

    @property
    def is_right(self) -> bool:
        """Return whether the verdict is the gold label."""
        return self.verdict == self.label

    @property
    def is_decided(self) -> bool:
        """Return whether the verdict is SUPPORTED or REFUTED."""
        return self.verdict in DECIDED


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `total`; printed as "0.590 (59 of 100)"."""

    count: int
    total: int

    def __str__(self) -> str:
        return f"{self.count / self.total:.3f} ({self.count} of {self.total})" if self.total else "none"


def _share(of: Iterable[Outcome], holds: Callable[[Outcome], bool]) -> Share:
    held = [holds(each) for each in of]
    return Share(sum(held), len(held))


def _labelled(outcomes: Iterable[Outcome], *labels: str) -> list[Outcome]:
    return [each for each in outcomes if each.label in labels]


def accuracy(outcomes: Sequence[Outcome]) -> Share:
    """Return the share of runs with the right one of three labels; a failed run is wrong."""
    return _share(outcomes, lambda each: each.is_right)


def precision_of_decided(outcomes: Sequence[Outcome]) -> Share:
    """Return the share of right verdicts among SUPPORTED and REFUTED."""
    return _share([each for each in outcomes if each.is_decided], lambda each: each.is_right)


def coverage(outcomes: Sequence[Outcome]) -> Share:
    """Return the share of decidable claims with a verdict of SUPPORTED or REFUTED, right or wrong."""
    return _share(_labelled(outcomes, *DECIDED), lambda each: each.is_decided)


def false_supported(outcomes: Sequence[Outcome]) -> Share:
    """Return the share of false claims with the verdict SUPPORTED."""
    return _share(_labelled(outcomes, REFUTED), lambda each: each.verdict == SUPPORTED)


def true_refuted(outcomes: Sequence[Outcome]) -> Share:
    """Return the share of true claims with the verdict REFUTED."""
    return _share(_labelled(outcomes, SUPPORTED), lambda each: each.verdict == REFUTED)


def undecidable_decided(outcomes: Sequence[Outcome]) -> Share:
    """Return the share of undecidable claims with a verdict of SUPPORTED or REFUTED."""
    return _share(_labelled(outcomes, NOT_ENOUGH), lambda each: each.is_decided)


def twins_right(outcomes: Sequence[Outcome]) -> Share:
    """Return the share of groups with true and false claims of one style in which every verdict is right."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for each in _labelled(outcomes, *DECIDED):
        groups.setdefault((each.group, each.style), []).append(each)
    whole = [group for group in groups.values() if len({each.label for each in group}) == 2]
    return Share(sum(all(each.is_right for each in group) for group in whole), len(whole))


def calibration_error(outcomes: Sequence[Outcome]) -> float | None:
    """Return the expected calibration error of the confidence of decided runs; None if none has a confidence."""
    stated = [(each.confidence, each.is_right) for each in outcomes if each.is_decided and each.confidence is not None]
    if not stated:
        return None
    confidence, right = zip(*stated, strict=True)
    return expected_calibration_error(confidence, right, CALIBRATION_BINS)


def _seconds(outcomes: Sequence[Outcome]) -> str:
    taken = [each.seconds for each in outcomes]
    return f"{np.median(taken):.1f}, {np.percentile(taken, 90):.1f}" if taken else "none"


def _error(outcomes: Sequence[Outcome]) -> str:
    error = calibration_error(outcomes)
    return "none" if error is None else f"{error:.3f}"


MEASURES: dict[str, Callable[[Sequence[Outcome]], object]] = {
    "runs": len,
    "failed": lambda outcomes: sum(each.verdict is None for each in outcomes),
    "accuracy (three labels)": accuracy,
    "precision of decided": precision_of_decided,
    "coverage of the decidable": coverage,
    "false claims supported": false_supported,
    "true claims refuted": true_refuted,
    "undecidable decided": undecidable_decided,
    "twins both right": twins_right,
    f"calibration error ({CALIBRATION_BINS} bins)": _error,
    "seconds (median, 90th percentile)": _seconds,
}
BY_KIND = (
    "runs",
    "accuracy (three labels)",
    "precision of decided",
    "coverage of the decidable",
    "false claims supported",
    "true claims refuted",
)


def figures_table(columns: Mapping[str, Sequence[Outcome]]) -> str:
    """Return a Markdown table of all measures, one column for each set of runs."""
    lines = ((name, *(str(measure(runs)) for runs in columns.values())) for name, measure in MEASURES.items())
    return markdown_table(("measure", *columns), lines)


def kinds_table(outcomes: Sequence[Outcome]) -> str:
    """Return a Markdown table of the main measures by style, number of titles and kind of claim."""
    parts: dict[str, list[Outcome]] = {}
    for each in outcomes:
        titles = "titles two" if each.hops > 1 else "titles one"
        for part in (f"style {each.style}", titles, f"kind {each.kind}"):
            parts.setdefault(part, []).append(each)
    order = sorted(parts, key=lambda part: (part.startswith("kind"), part))
    return markdown_table(
        ("part", *BY_KIND), ((part, *(str(MEASURES[name](parts[part])) for name in BY_KIND)) for part in order)
    )
