"""The claim form: what was typed and chosen, and the run options it asks for, or the field that is wrong and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

from werkzeug.datastructures import MultiDict

from app.claims import clean_claim
from app.offers import Offers
from app.reasoning.errors import InvalidInput
from app.reasoning.types import Claim, LabelSet, RunOptions
from app.settings import MOST_HOPS

SINGLE = ("answerer", "strategy", "preset", "model", "labels", "max_hops")
"""The fields of one value."""


@dataclass(frozen=True)
class ClaimForm:
    """The fields exactly as typed, so that a form that was refused comes back unchanged."""

    claim: str = ""
    answerer: str = ""
    strategy: str = "question-guided"
    preset: str = ""
    model: str = ""
    corpora: tuple[str, ...] = ()
    labels: str = LabelSet.THREE.value
    max_hops: str = ""
    fresh: bool = False

    @classmethod
    def asking_for(cls, options: RunOptions) -> ClaimForm:
        """The form as a new visitor finds it."""
        return cls(
            answerer=options.answerer,
            strategy=options.strategy,
            preset=options.preset,
            model=options.model or "",
            corpora=options.corpora,
            labels=options.labels.value,
            max_hops=str(options.max_hops),
            fresh=options.fresh,
        )

    @classmethod
    def sent(cls, fields: MultiDict[str, str], blank: ClaimForm) -> ClaimForm:
        """The form as it was posted. A sample's button carries its claim; fields left out are as in `blank`.

        No box of a group that is ticked looks like a group that was left out, hence the empty value that the page
        sends along with the corpora.
        """
        return replace(
            blank,
            claim=fields.get("sample") or fields.get("claim", ""),
            corpora=tuple(filter(None, fields.getlist("corpora"))) if "corpora" in fields else blank.corpora,
            fresh="fresh" in fields,
            **{name: fields[name] for name in SINGLE if name in fields},
        )

    def read(self, offers: Offers) -> tuple[Claim, RunOptions]:
        """The claim, and the options but those that will not be at work. InvalidInput names the field that is wrong.

        Whether the names are known and go together is for `check` to say.
        """
        return clean_claim(self.claim), offers.at_work(self._options())

    def asked_model(self, offers: Offers) -> str | None:
        """The language model that gets the claim when the form is sent as it is."""
        chosen = RunOptions(strategy=self.strategy, preset=self.preset, answerer=self.answerer)
        return self.model if offers.needs_model(chosen) else None

    def _options(self) -> RunOptions:
        return RunOptions(
            strategy=self.strategy,
            answerer=self.answerer,
            labels=_labels(self.labels),
            max_hops=_max_hops(self.max_hops),
            preset=self.preset,
            model=self.model or None,
            corpora=self.corpora,
            fresh=self.fresh,
        )


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
