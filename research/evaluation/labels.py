"""The labels of the data sets against the project's own: how they are spelled, and which predictions match them.

Two tables hold all of it. docs/evaluation.md shows them to people.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from app.domain.model import Label, LabelSet


class Gold(StrEnum):
    """What a data set says of a claim: the project's four labels, and two that must not be folded into them."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    NOT_ENOUGH_EVIDENCE = "NOT_ENOUGH_EVIDENCE"
    CONFLICTING_EVIDENCE = "CONFLICTING_EVIDENCE"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    """HoVer's: refuted and unproven merged."""
    PARTIALLY_SUPPORTED = "PARTIALLY_SUPPORTED"
    """WiCE's: a part is borne out, which is no conflict."""


_S, _R, _N, _C = Label
_TWO, _THREE, _FOUR = LabelSet

MATCHES: dict[Gold, dict[LabelSet, tuple[Label, ...]]] = {
    Gold.SUPPORTED: {_TWO: (_S,), _THREE: (_S,), _FOUR: (_S,)},
    Gold.REFUTED: {_TWO: (_R,), _THREE: (_R,), _FOUR: (_R,)},
    Gold.NOT_SUPPORTED: {_TWO: (_R,), _THREE: (_R, _N), _FOUR: (_R, _N)},
    Gold.NOT_ENOUGH_EVIDENCE: {_TWO: (), _THREE: (_N,), _FOUR: (_N,)},
    Gold.CONFLICTING_EVIDENCE: {_TWO: (), _THREE: (), _FOUR: (_C,)},
    Gold.PARTIALLY_SUPPORTED: {_TWO: (), _THREE: (), _FOUR: ()},
}
"""The predictions that are right for each label of a data set; rows for which none can be are left out and counted."""

_SPELLINGS = {
    Gold.SUPPORTED: ("supports", "support"),
    Gold.REFUTED: ("refutes", "refute"),
    Gold.NOT_ENOUGH_EVIDENCE: ("not_enough_info",),
    Gold.CONFLICTING_EVIDENCE: ("conflicting_evidence/cherrypicking",),
}
_BY_SPELLING = {gold.value.casefold(): gold for gold in Gold} | {
    spelled: gold for gold, spellings in _SPELLINGS.items() for spelled in spellings
}


def gold_label(written: str) -> Gold | None:
    """The label that a data set writes in its own way ("Supported", "NOT ENOUGH INFO"); None for one unknown here."""
    return _BY_SPELLING.get("_".join(written.casefold().split()))


def as_gold(predicted: Label | None, gold: Gold, classes: Collection[Gold]) -> str:
    """The class that a prediction for a row labelled `gold` counts for, in a set that has the labels `classes`.

    A match counts for `gold`. Where the set only knows "not supported", so does all else that is not supported. A
    failed prediction (None) counts for no class: "".
    """
    if predicted is None:
        return ""
    if predicted in MATCHES[gold][_FOUR]:
        return gold.value
    if predicted is not Label.SUPPORTED and Gold.NOT_SUPPORTED in classes and Gold(predicted.value) not in classes:
        return Gold.NOT_SUPPORTED.value
    return predicted.value
