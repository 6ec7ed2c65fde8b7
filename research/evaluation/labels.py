"""The data sets' labels: their spellings, and which of the project's own labels count as right for each.

docs/reproduce.md has the table of the right labels.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from app.domain.model import Label, LabelSet


class Gold(StrEnum):
    """A claim's label in a data set: one of the project's four labels, or one of two others."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    NOT_ENOUGH_EVIDENCE = "NOT_ENOUGH_EVIDENCE"
    CONFLICTING_EVIDENCE = "CONFLICTING_EVIDENCE"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    """HoVer's label for claims that are refuted or unproven."""
    PARTIALLY_SUPPORTED = "PARTIALLY_SUPPORTED"
    """WiCE's label for claims that are supported in part, which is different from conflicting evidence."""


_S, _R, _N, _C = LabelSet.FOUR.labels
_TWO, _THREE, _FOUR = LabelSet.TWO, LabelSet.THREE, LabelSet.FOUR

MATCHES: dict[Gold, dict[LabelSet, tuple[Label, ...]]] = {
    Gold.SUPPORTED: {_TWO: (_S,), _THREE: (_S,), _FOUR: (_S,)},
    Gold.REFUTED: {_TWO: (_R,), _THREE: (_R,), _FOUR: (_R,)},
    Gold.NOT_SUPPORTED: {_TWO: (_R,), _THREE: (_R, _N), _FOUR: (_R, _N)},
    Gold.NOT_ENOUGH_EVIDENCE: {_TWO: (), _THREE: (_N,), _FOUR: (_N,)},
    Gold.CONFLICTING_EVIDENCE: {_TWO: (), _THREE: (), _FOUR: (_C,)},
    Gold.PARTIALLY_SUPPORTED: {_TWO: (), _THREE: (), _FOUR: ()},
}
"""The right predictions for each label of a data set. Rows without any are left out and counted, or all are wrong."""

_OTHER_SPELLINGS = {
    Gold.SUPPORTED: ("supports", "support"),
    Gold.REFUTED: ("refutes", "refute"),
    Gold.NOT_ENOUGH_EVIDENCE: ("not_enough_info",),
    Gold.CONFLICTING_EVIDENCE: ("conflicting_evidence/cherrypicking",),
}
_GOLD_BY_SPELLING = {gold.value.casefold(): gold for gold in Gold} | {
    spelled: gold for gold, spellings in _OTHER_SPELLINGS.items() for spelled in spellings
}


def gold_label(written: str) -> Gold | None:
    """Return the label for a data set's spelling ("Supported", "NOT ENOUGH INFO"), or None if it is unknown."""
    return _GOLD_BY_SPELLING.get("_".join(written.casefold().split()))


def as_gold(predicted: Label | None, gold: Gold, classes: Collection[Gold], labels: LabelSet = LabelSet.FOUR) -> str:
    """Return the class that a prediction counts for in the figures per class.

    `gold` is the row's label, `classes` are the data set's labels. A right prediction counts for `gold`. A wrong one
    counts for its own label, or for NOT_SUPPORTED if the data set has that and lacks the label. A failed prediction
    (None) counts for no class, "", and so does a label that is none of `labels`, the ones to choose from.
    """
    if predicted is None or predicted not in labels.labels:
        return ""
    if predicted in MATCHES[gold][_FOUR]:
        return gold.value
    if predicted is not Label.SUPPORTED and Gold.NOT_SUPPORTED in classes and Gold(predicted.value) not in classes:
        return Gold.NOT_SUPPORTED.value
    return predicted.value
