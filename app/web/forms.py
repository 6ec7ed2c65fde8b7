"""The claim form: what was typed and chosen, and the raw input of a run that it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from werkzeug.datastructures import MultiDict

from app.capabilities.options import PURSUIT, Capabilities
from app.domain.model import Claim, RunOptions
from app.run_request import CLAIM_FIELDS

SINGLE = ("answerer", "strategy", "preset", "pursuit", "search", "model", "labels", "max_hops", "speaker", "date")
"""The fields of one value."""
RAW = (*CLAIM_FIELDS, "strategy", "answerer", "labels", "corpora", "fresh", "undated", "fact_checks")
"""The fields that are passed on as they are."""


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

    def raw(self) -> dict[str, Any]:
        """The fields as RunRequest.resolve takes them: no label set counts as left out."""
        fields = {name: getattr(self, name) for name in RAW if name != "labels" or self.labels}
        number = int(self.max_hops) if re.fullmatch("[0-9]{1,3}", self.max_hops) else None
        named = {"preset": self._preset(), "model": self.model or None, "search": self.search or None}
        return {**fields, **named, "max_hops": number}

    def asked_model(self, capabilities: Capabilities) -> str | None:
        """The language model that gets the claim when the form is sent as it is."""
        chosen = RunOptions(strategy=self.strategy, preset=self._preset(), answerer=self.answerer)
        return self.model if capabilities.needs_model(chosen) else None

    def _preset(self) -> str:
        return self.pursuit if self.strategy == PURSUIT else self.preset


def _ticked(name: str, fields: MultiDict[str, str], blank: bool) -> bool:
    """A box that is ticked at first: the page sends an empty value along, which tells one cleared from one left out."""
    return any(fields.getlist(name)) if name in fields else blank
