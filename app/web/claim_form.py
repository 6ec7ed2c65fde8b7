"""The claim form: what was typed and chosen, and the run options it asks for, or the field that is wrong and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

from werkzeug.datastructures import MultiDict

from app.claims import whole_claim
from app.offers import PURSUIT, Offers
from app.pursuit_presets import usual_labels
from app.reasoning.errors import InvalidInput
from app.reasoning.types import Claim, LabelSet, RunOptions
from app.settings import MOST_HOPS

SINGLE = ("answerer", "strategy", "preset", "pursuit", "search", "model", "labels", "max_hops", "speaker", "date")
"""The fields of one value."""


@dataclass(frozen=True)
class ClaimForm:
    """The fields exactly as typed, so that a form that was refused comes back unchanged."""

    claim: str = ""
    speaker: str = ""
    date: str = ""
    answerer: str = ""
    strategy: str = "question-guided"
    preset: str = ""
    pursuit: str = ""
    search: str = ""
    model: str = ""
    corpora: tuple[str, ...] = ()
    labels: str = ""
    max_hops: str = ""
    fresh: bool = False
    undated: bool = True
    fact_checks: bool = True

    @classmethod
    def asking_for(cls, options: RunOptions, pursuit: str) -> ClaimForm:
        """The form as a new visitor finds it; `pursuit` is the preset for a pursuit of evidence."""
        return cls(
            answerer=options.answerer,
            strategy=options.strategy,
            preset=options.preset,
            pursuit=pursuit,
            search=options.search or "",
            model=options.model or "",
            corpora=options.corpora,
            max_hops=str(options.max_hops),
            fresh=options.fresh,
        )

    @classmethod
    def again(cls, claim: Claim, options: RunOptions, blank: ClaimForm) -> ClaimForm:
        """The form that asks for an earlier run once more; what was not at work in it is as in `blank`."""
        pursues = options.strategy == PURSUIT
        return replace(
            blank,
            claim=claim.text,
            speaker=claim.speaker or "",
            date=claim.date or "",
            answerer=options.answerer or blank.answerer,
            strategy=options.strategy,
            search=options.search or blank.search,
            model=options.model or blank.model,
            corpora=options.corpora or blank.corpora,
            labels=options.labels.value,
            max_hops=str(options.max_hops),
            undated=options.undated,
            fact_checks=options.fact_checks,
            preset=blank.preset if pursues else options.preset,
            pursuit=options.preset if pursues else blank.pursuit,
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
            undated=_ticked("undated", fields, blank.undated),
            fact_checks=_ticked("fact_checks", fields, blank.fact_checks),
            **{name: fields[name] for name in SINGLE if name in fields},
        )

    def read(self, offers: Offers) -> tuple[Claim, RunOptions]:
        """The claim, and the options but those that will not be at work. InvalidInput names the field that is wrong.

        Whether the names are known and go together is for `check` to say.
        """
        return whole_claim(self.claim, self.speaker, self.date), self.options(offers)

    def options(self, offers: Offers) -> RunOptions:
        """The options but those that will not be at work. Raises InvalidInput."""
        return offers.at_work(self._options())

    def asked_model(self, offers: Offers) -> str | None:
        """The language model that gets the claim when the form is sent as it is."""
        chosen = RunOptions(strategy=self.strategy, preset=self._preset(), answerer=self.answerer)
        return self.model if offers.needs_model(chosen) else None

    def _options(self) -> RunOptions:
        return RunOptions(
            strategy=self.strategy,
            answerer=self.answerer,
            labels=label_set(self.labels) if self.labels else usual_labels(self.strategy, self._preset()),
            max_hops=_max_hops(self.max_hops),
            preset=self._preset(),
            model=self.model or None,
            corpora=self.corpora,
            fresh=self.fresh,
            search=self.search or None,
            undated=self.undated,
            fact_checks=self.fact_checks,
        )

    def _preset(self) -> str:
        return self.pursuit if self.strategy == PURSUIT else self.preset


def _ticked(name: str, fields: MultiDict[str, str], blank: bool) -> bool:
    """A box that is ticked at first: the page sends an empty value along, which tells one cleared from one left out."""
    return any(fields.getlist(name)) if name in fields else blank


def label_set(name: str) -> LabelSet:
    """The label set of that name. Raises InvalidInput when there is none."""
    try:
        return LabelSet(name)
    except ValueError:
        known = ", ".join(LabelSet)
        raise InvalidInput(f"There is no label set of that name; choose one of: {known}.", "labels") from None


def _max_hops(text: str) -> int:
    if text in {str(number) for number in range(1, MOST_HOPS + 1)}:
        return int(text)
    raise InvalidInput(f"The number of hops must be a whole number from 1 to {MOST_HOPS}.", "max_hops")
