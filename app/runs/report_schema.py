"""The report of a run as JSON, written by exports and the API and read by imports, and its JSON Schema.

Change `Version` when a field is removed or changes its meaning. A new field needs a default, because older files lack
it, but no new version; in RunOptions, Usage and Note the default must be false (see `_limited`). The limits are for
imports: a file may come from anybody and be too large to show.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, TypeAdapter

from app.domain.model import MAX_NOTE_LENGTH, FactCheck, HopStatus, Label, Note, Origin, RunOptions, Usage
from app.runs.json_schema import WHOLE, Moment, descriptions, json_schemas

Version = Literal[1]
VERSION: Version = get_args(Version)[0]

MAX_HOPS = 50
MAX_PASSAGES = 100
MAX_SECONDS = 10_000_000
MAX_NUMBER = 10**12

_NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tab and line feed, and those that change the direction of text."""


def _without_controls(text: str) -> str:
    """Replace each of these characters by exactly one other, so that the positions of answers are unchanged."""
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
Count = Annotated[int, Field(ge=0, le=MAX_NUMBER), WHOLE]
HopNumber = Annotated[int, Field(ge=1, le=MAX_HOPS), WHOLE]
State = Literal["running", "verdict", "failed", "interrupted"]
STATES: tuple[str, ...] = get_args(State)

_LIMITED: Mapping[Any, Any] = {
    str: Name,
    str | None: Name | None,
    tuple[str, ...]: Annotated[tuple[Name, ...], Field(max_length=20, fail_fast=True)],
    int: Count,
    int | None: Count | None,
    float | None: Amount | None,
}
"""Types of the domain's fields, and the types with limits that replace them."""


class Part:
    """Base class of every part of a report: strict validation, and errors without the input."""

    __slots__ = ()
    __pydantic_config__: ClassVar = ConfigDict(
        strict=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )


def _limited(name: str, about: str, source: type, without: str = "", **limited: Any) -> type:
    """Return a copy of the dataclass `source` with limited types: those of `limited` by field, else of _LIMITED.

    It lacks the field `without`, and keeps a default only if it is false (None, 0, False): an omitted option of an old
    file must not get today's default.
    """
    hints, texts = get_type_hints(source), descriptions(source)
    typed = [
        (
            each.name,
            limited.get(each.name) or _LIMITED.get(hints[each.name], hints[each.name]),
            field(default=MISSING if each.default else each.default, metadata={"description": texts.get(each.name)}),
        )
        for each in fields(source)
        if each.name != without
    ]
    return make_dataclass(name, typed, bases=(Part,), namespace={"__doc__": about}, frozen=True, kw_only=True)


if TYPE_CHECKING:
    Options = RunOptions
    RunUsage = Usage
    RunNote = Note
    PublishedFactCheck = FactCheck
else:
    Options = _limited(
        "Options",
        "What was chosen. An import takes any names, for nothing is carried out with them.",
        RunOptions,
        without="modules",
        max_hops=Annotated[int, Field(ge=0, le=MAX_HOPS), WHOLE],
    )
    RunUsage = _limited("RunUsage", "What calls cost.", Usage)
    RunNote = _limited(
        "Note",
        Note.__doc__,
        Note,
        hop=Annotated[int, Field(ge=0), WHOLE],
        text=Annotated[str, Field(max_length=MAX_NOTE_LENGTH)],
        label=Label | None,
        written_at=Moment,
    )
    PublishedFactCheck = _limited("PublishedFactCheck", FactCheck.__doc__, FactCheck, url=Address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Part):
    """A passage that a hop retrieved."""

    title: Words
    source: Words
    """The name of its source, with the licence."""
    url: Address | None
    """Unchanged from the source: follow only http and https."""
    published: Name | None
    """A day, like 2020-10-31."""
    origin: Origin
    """Recited passages come from a model's memory and are not sources."""
    fact_check: bool = False
    """True if a known fact-checker published it."""
    score: Number
    """The retriever's score; comparable within one hop only."""
    text: PassageText
    described: Count = 0
    """The characters at its start that are the source's short description, not from the text itself."""
    cited: bool
    """True if the answer is in it."""
    start: Count | None
    """The start of the answer in the text, in Unicode code points."""
    end: Count | None
    """The end of the answer in the text, in Unicode code points."""


def _answer_is_within(evidence: Evidence) -> Evidence:
    start, end = evidence.start, evidence.end
    if evidence.cited and (start is None or end is None or not start <= end <= len(evidence.text)):
        raise ValueError("the answer must be inside its passage")
    return evidence


CheckedEvidence = Annotated[Evidence, AfterValidator(_answer_is_within)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHop(Part):
    """One question with its answer and outcome."""

    number: HopNumber
    question: Words
    """Empty when no question could be asked."""
    answer: Words | None
    """null while the question is being answered, and when no answer was found."""
    status: HopStatus
    reason: Words
    """The reason why it was kept or set aside, or what failed."""
    from_memory: bool = False
    """True if its answer is based on text that a model recited and has no source."""
    answerer: Name | None
    """null until the answerer has returned."""
    began: Seconds
    """Seconds after the run's start."""
    seconds: Seconds
    usage: RunUsage = field(default_factory=RunUsage)
    evidence: Annotated[tuple[CheckedEvidence, ...], Field(max_length=MAX_PASSAGES, fail_fast=True)]
    """Every retrieved passage, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RationaleSentence(Part):
    """A sentence of the rationale."""

    text: Words
    hops: Annotated[tuple[HopNumber, ...], Field(max_length=MAX_HOPS, fail_fast=True)]
    """The hops that support the sentence."""
    from_memory: bool = False
    quote: Words = ""
    """The words that it quotes from a passage of these hops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module(Part):
    """An implementation and the role that it had in the run."""

    role: Name
    implementation: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchedFrom(Part):
    """The point where the run branches off an earlier one."""

    parent: RunId
    """The id of the earlier run."""
    hop: HopNumber
    """The hops before this one are those of the earlier run."""
    question: Words | None
    """The new question of that hop; null if the hop was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFrom(Part):
    """Metadata of a report that was imported from a file; nothing in it is verified."""

    made_at: Moment
    """The start of its check according to the file, in UTC."""


@dataclass(frozen=True, kw_only=True)
class RunReport(Part):
    """A run with its verdict and every hop; missing values are null. Times are in seconds."""

    # The API's answer for a run has more fields, and can be imported as it is.
    __pydantic_config__: ClassVar = Part.__pydantic_config__ | {"extra": "ignore"}

    version: Version
    """The version of this schema. New fields may be added without a new version."""
    id: str = ""
    created_at: Moment
    claim: str
    speaker: str | None
    date: str | None
    """A day, like 2020-10-31."""
    state: State
    phase: str | None = None
    """The last activity that a module reported; it may have ended."""
    label: Label | None
    confidence: Share | None
    rationale: Annotated[tuple[RationaleSentence, ...], Field(max_length=100, fail_fast=True)]
    missing: Words | None
    """The missing evidence."""
    problem: Words | None
    """The reason why there is no verdict."""
    stopped_because: Words | None
    """The reason why no more questions were asked."""
    ended_early: bool = False
    """True if the owner or a limit on time, calls, tokens or cost ended the questions."""
    failures: Annotated[tuple[Words, ...], Field(max_length=200, fail_fast=True)]
    """Problems that did not stop the run."""
    fact_checks: Annotated[tuple[PublishedFactCheck, ...], Field(max_length=MAX_PASSAGES, fail_fast=True)] | None = None
    """Published fact-checks; null if they were not looked up."""
    resumed: Annotated[int, Field(ge=0, le=100), WHOLE]
    """The number of times it was interrupted and resumed."""
    branch: BranchedFrom | None = None
    imported: ImportedFrom | None = None
    seconds: Seconds
    """From the start to the last event."""
    usage: RunUsage
    options: Options
    modules: Annotated[tuple[Module, ...], Field(max_length=30, fail_fast=True)]
    hops: Annotated[tuple[RunHop, ...], Field(max_length=MAX_HOPS, fail_fast=True)]


@dataclass(frozen=True, kw_only=True)
class ExportedRun(RunReport):
    """A report of Hopcheck. Texts come from elsewhere: escape them, and follow only http and https URLs."""

    OPTIONAL: ClassVar = ("notes",)

    notes: tuple[RunNote, ...] = ()
    """The owner's own verdict; the other notes only if the owner requested them."""


@cache
def report_adapter() -> TypeAdapter[RunReport]:
    """Return the validator of imports. Building it takes as long as a tenth of a start, so it is built when needed."""
    return TypeAdapter(RunReport)


def export_schema() -> dict[str, Any]:
    """Return the JSON Schema of a JSON export."""
    parts = json_schemas([ExportedRun], "#/$defs/{model}")
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "Hopcheck report", **parts.pop("ExportedRun"), "$defs": parts}
