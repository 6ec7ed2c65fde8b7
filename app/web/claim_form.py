"""The claim form: what was typed, and the run options it asks for, or the field that is wrong and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.claims import clean_claim
from app.reasoning.errors import InvalidInput
from app.reasoning.types import Claim, LabelSet, RunOptions
from app.settings import MOST_HOPS


@dataclass(frozen=True)
class ClaimForm:
    """The fields exactly as typed, so that a form that was refused comes back unchanged."""

    claim: str = ""
    answerer: str = ""
    labels: str = LabelSet.THREE.value
    max_hops: str = ""

    @classmethod
    def sent(cls, fields: Mapping[str, str], blank: ClaimForm) -> ClaimForm:
        """The form as it was posted. A sample's button carries its claim; fields left out are as in `blank`."""
        return cls(
            claim=fields.get("sample") or fields.get("claim", ""),
            answerer=fields.get("answerer", blank.answerer),
            labels=fields.get("labels", blank.labels),
            max_hops=fields.get("max_hops", blank.max_hops),
        )

    def read(self, answerers: Sequence) -> tuple[Claim, RunOptions]:
        """The claim and the options; InvalidInput names the first field that is wrong."""
        claim = clean_claim(self.claim)
        return claim, RunOptions(
            answerer=_answerer(self.answerer, answerers), labels=_labels(self.labels), max_hops=_max_hops(self.max_hops)
        )


def _answerer(name: str, answerers: Sequence) -> str:
    for choice in answerers:
        if choice.name == name and choice.available:
            return name
        if choice.name == name:
            raise InvalidInput(f"{choice.title} is not available here: {choice.reason}", "answerer")
    known = ", ".join(choice.name for choice in answerers)
    raise InvalidInput(f"There is no answerer of that name; choose one of {known}.", "answerer")


def _labels(name: str) -> LabelSet:
    try:
        return LabelSet(name)
    except ValueError:
        known = " or ".join(LabelSet)
        raise InvalidInput(f"There is no label set of that name; choose {known}.", "labels") from None


def _max_hops(text: str) -> int:
    if text in {str(number) for number in range(1, MOST_HOPS + 1)}:
        return int(text)
    raise InvalidInput(f"The number of hops must be a whole number from 1 to {MOST_HOPS}.", "max_hops")
