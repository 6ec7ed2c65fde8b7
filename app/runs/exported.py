"""A JSON export as it may be read: of this version, every part of its kind, and nothing in it too large to show.

It may come from anybody, so all of it is hostile until it has passed here. Fields that are not known are passed over,
for a later Hopcheck may have written them; those that came after the first exports of this version may be missing.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.domain.model import HopStatus, Label, LabelSet, Origin

MOST_HOPS = 50
MOST_PASSAGES = 100
MOST_SECONDS = 10_000_000
LARGEST_NUMBER = 10**12
EARLIEST, LATEST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)

_NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tab and line feed, and those that make a line read in another order than it stands."""


def _shown(text: str) -> str:
    """One character for one, so that an answer keeps its place in its passage."""
    return _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", text)


Name = Annotated[str, StringConstraints(max_length=300), AfterValidator(_shown)]
Words = Annotated[str, StringConstraints(max_length=10_000), AfterValidator(_shown)]
PassageText = Annotated[str, StringConstraints(max_length=200_000), AfterValidator(_shown)]
Address = Annotated[str, StringConstraints(max_length=4_000), AfterValidator(_shown)]
RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Moment = Annotated[AwareDatetime, Field(ge=EARLIEST, le=LATEST)]
Number = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=LARGEST_NUMBER, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
HopNumber = Annotated[int, Field(ge=1, le=MOST_HOPS)]


class Part(BaseModel):
    """What all parts have in common. An error does not hold what it is about."""

    model_config = ConfigDict(strict=True, frozen=True, hide_input_in_errors=True)


class Cost(Part):
    """What calls cost."""

    calls: Count = 0
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cached: Count = 0
    cost: Amount | None = None


class Evidence(Part):
    """A passage; the answer stands in it from `start` to `end` where it is `cited`."""

    title: Words
    source: Words
    url: Address | None
    published: Name | None
    origin: Origin
    score: Number
    text: PassageText
    cited: bool
    start: Count | None
    end: Count | None

    @model_validator(mode="after")
    def _answer_lies_within(self) -> Self:
        if self.cited and not (
            self.start is not None and self.end is not None and self.start <= self.end <= len(self.text)
        ):
            raise ValueError("the answer must stand inside its passage")
        return self


class ExportedHop(Part):
    """One hop, which has been closed: `answerer` is null where nobody came back with anything."""

    number: HopNumber
    question: Words
    answer: Words | None
    status: Literal[HopStatus.KEPT, HopStatus.SET_ASIDE, HopStatus.FAILED, HopStatus.INTERRUPTED]
    reason: Words
    answerer: Name | None
    began: Seconds
    seconds: Seconds
    usage: Cost = Cost()
    evidence: Annotated[tuple[Evidence, ...], Field(max_length=MOST_PASSAGES)]


class ExportedSentence(Part):
    """A sentence of the rationale, and the numbers of the hops it rests on."""

    text: Words
    hops: Annotated[tuple[HopNumber, ...], Field(max_length=MOST_HOPS)]


class ExportedOptions(Part):
    """What was chosen, under any names: nothing is carried out with them."""

    strategy: Name
    answerer: Name
    preset: Name
    labels: LabelSet
    max_hops: Annotated[int, Field(ge=0, le=MOST_HOPS)]
    model: Name | None
    corpora: Annotated[tuple[Name, ...], Field(max_length=20)]
    search: Name | None
    fresh: bool
    undated: bool
    fact_checks: bool


class ExportedModule(Part):
    """Which module was at work in which role."""

    role: Name
    implementation: Name


class ExportedBranch(Part):
    """Where the run left an earlier one."""

    parent: RunId
    hop: HopNumber
    question: Words | None


class ExportedImport(Part):
    """What an imported report says of itself."""

    made_at: Moment


class Exported(Part):
    """A run that has ended, as app/runs/export.py tells it."""

    version: Literal[1]
    created_at: Moment
    claim: str
    speaker: str | None
    date: str | None
    state: Literal["verdict", "failed", "interrupted"]
    label: Label | None
    confidence: Share | None
    rationale: Annotated[tuple[ExportedSentence, ...], Field(max_length=100)]
    missing: Words | None
    problem: Words | None
    stopped_because: Words | None
    failures: Annotated[tuple[Words, ...], Field(max_length=200)]
    resumed: Annotated[int, Field(ge=0, le=100)]
    branch: ExportedBranch | None = None
    imported: ExportedImport | None = None
    seconds: Seconds
    usage: Cost
    options: ExportedOptions
    modules: Annotated[tuple[ExportedModule, ...], Field(max_length=30)]
    hops: Annotated[tuple[ExportedHop, ...], Field(max_length=MOST_HOPS)]
