"""The report of a run as JSON: what the exports and the API write, what an import reads, and its JSON Schema.

Everything that a run's page shows is in it. Change VERSION when a field goes away or changes its meaning; a new field
does not change it, and needs a default, for older files lack it. The limits are those of an import: a file may come
from anybody, so nothing in it may be too large to show.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, TypeAdapter

from app.domain.model import HopStatus, Label, Origin, RunOptions, Usage
from app.runs.json_schema import Moment, descriptions, json_schemas
from app.runs.notes import Note

VERSION: Literal[1] = 1

MAX_HOPS = 50
MAX_PASSAGES = 100
MAX_SECONDS = 10_000_000
MAX_NUMBER = 10**12

_NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tab and line feed, and those that change the direction of text."""


def _without_controls(text: str) -> str:
    """Replace one character by one, so that an answer keeps its place in its passage."""
    return _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", text)


Name = Annotated[str, StringConstraints(max_length=300), AfterValidator(_without_controls)]
Words = Annotated[str, StringConstraints(max_length=10_000), AfterValidator(_without_controls)]
PassageText = Annotated[str, StringConstraints(max_length=200_000), AfterValidator(_without_controls)]
Address = Annotated[str, StringConstraints(max_length=4_000), AfterValidator(_without_controls)]
RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Number = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=MAX_NUMBER, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
HopNumber = Annotated[int, Field(ge=1, le=MAX_HOPS)]
State = Literal["running", "verdict", "failed", "interrupted"]
STATES: tuple[str, ...] = get_args(State)

_LIMITED: Mapping[Any, Any] = {
    str: Name,
    str | None: Name | None,
    tuple[str, ...]: Annotated[tuple[Name, ...], Field(max_length=20)],
    int: Count,
    float | None: Amount | None,
}
"""Types of the domain, and what an import takes in their place."""


class Part:
    """Validation of every part of a report; an error does not repeat what was sent."""

    __slots__ = ()
    __pydantic_config__: ClassVar = ConfigDict(strict=True, hide_input_in_errors=True, use_attribute_docstrings=True)


def _limited(name: str, about: str, source: type, without: str = "", **limited: Any) -> type:
    """Return a copy of a dataclass of the domain with the limits of an import, those of `limited` by field.

    Its fields have no defaults but zero and null, which stand for nothing.
    """
    hints, said = get_type_hints(source), descriptions(source)
    made = [
        (
            each.name,
            limited.get(each.name) or _LIMITED.get(hints[each.name], hints[each.name]),
            field(default=MISSING if each.default else each.default, metadata={"description": said.get(each.name)}),
        )
        for each in fields(source)
        if each.name != without
    ]
    return make_dataclass(name, made, bases=(Part,), namespace={"__doc__": about}, frozen=True, kw_only=True)


if TYPE_CHECKING:
    Options = RunOptions
    RunUsage = Usage
else:
    Options = _limited(
        "Options",
        "What was chosen. An import takes any names, for nothing is carried out with them.",
        RunOptions,
        without="modules",
        max_hops=Annotated[int, Field(ge=0, le=MAX_HOPS)],
    )
    RunUsage = _limited("RunUsage", "What calls cost.", Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Part):
    """A passage that a hop looked at."""

    title: Words
    source: Words
    """Where it is from, with its licence."""
    url: Address | None
    """As it was found: follow nothing but http and https."""
    published: Name | None
    """A day, like 2020-10-31."""
    origin: Origin
    """A recited passage comes from a model's memory and is no source."""
    fact_check: bool = False
    """Whether a known fact-checker published it."""
    score: Number
    """The retriever's own; compares within one hop only."""
    text: PassageText
    cited: bool
    """Whether the answer is in it."""
    start: Count | None
    """Where the answer begins in the text, in Unicode code points."""
    end: Count | None
    """Where it ends."""


def _answer_is_within(evidence: Evidence) -> Evidence:
    start, end = evidence.start, evidence.end
    if evidence.cited and (start is None or end is None or not start <= end <= len(evidence.text)):
        raise ValueError("the answer must be inside its passage")
    return evidence


CheckedEvidence = Annotated[Evidence, AfterValidator(_answer_is_within)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHop(Part):
    """One question and what came of it."""

    number: HopNumber
    question: Words
    """Empty when none could be asked."""
    answer: Words | None
    """null while it is sought, and when none was found."""
    status: HopStatus
    reason: Words
    """Why it was kept or set aside, or what failed."""
    from_memory: bool = False
    """Whether its answer rests on what a model recited, and on no source."""
    answerer: Name | None
    """null while nothing came back."""
    began: Seconds
    """Seconds after the run's start."""
    seconds: Seconds
    usage: RunUsage = field(default_factory=RunUsage)
    evidence: Annotated[tuple[CheckedEvidence, ...], Field(max_length=MAX_PASSAGES)]
    """Everything that was looked at, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RationaleSentence(Part):
    """A sentence of the rationale."""

    text: Words
    hops: Annotated[tuple[HopNumber, ...], Field(max_length=MAX_HOPS)]
    """The hops that the sentence rests on."""
    from_memory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Module(Part):
    """An implementation and the role that it had in the run."""

    role: Name
    implementation: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchedFrom(Part):
    """Where the run branches off an earlier one."""

    parent: RunId
    """The id of the earlier run."""
    hop: HopNumber
    """The hops before this one are those of the earlier run."""
    question: Words | None
    """What it asks in place of that hop; null where the hop was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFrom(Part):
    """Not made here but read from a file: nothing of it is verified."""

    made_at: Moment
    """When its check began, as the file says, in UTC."""


@dataclass(frozen=True, kw_only=True)
class RunReport(Part):
    """A run with its verdict and every hop; what there is none of is null. Times are seconds."""

    version: Literal[1]
    """Of this schema. New fields may come without a new version."""
    id: str = ""
    created_at: Moment
    claim: str
    speaker: str | None
    date: str | None
    """A day, like 2020-10-31."""
    state: State
    phase: str | None = None
    """What is being done, while it is running."""
    label: Label | None
    confidence: Share | None
    rationale: Annotated[tuple[RationaleSentence, ...], Field(max_length=100)]
    missing: Words | None
    """What would have been needed."""
    problem: Words | None
    """Why there is no verdict."""
    stopped_because: Words | None
    """Why no more questions were asked."""
    failures: Annotated[tuple[Words, ...], Field(max_length=200)]
    """What did not work though the run went on."""
    resumed: Annotated[int, Field(ge=0, le=100)]
    """How often it was interrupted and resumed."""
    branch: BranchedFrom | None = None
    imported: ImportedFrom | None = None
    seconds: Seconds
    """From the start to the last event."""
    usage: RunUsage
    options: Options
    modules: Annotated[tuple[Module, ...], Field(max_length=30)]
    hops: Annotated[tuple[RunHop, ...], Field(max_length=MAX_HOPS)]


@dataclass(frozen=True, kw_only=True)
class ExportedRun(RunReport):
    """A report of Hopcheck. Texts are data from elsewhere: escape them, and follow no url but http and https."""

    OPTIONAL: ClassVar = ("notes",)

    notes: tuple[Note, ...] = ()
    """Its owner's notes; only where the owner asked for them."""


REPORT = TypeAdapter(RunReport)
"""Validates an import."""


def export_schema() -> dict[str, Any]:
    """Return the JSON Schema of a JSON export."""
    parts = json_schemas([ExportedRun], "#/$defs/{model}")
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "Hopcheck report", **parts.pop("ExportedRun"), "$defs": parts}
