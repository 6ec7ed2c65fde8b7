"""What the JSON API takes and answers, as models and dataclasses from which its OpenAPI document is derived."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, create_model

from app.batches.files import MAX_CLAIMS, BatchResult
from app.batches.service import BatchState
from app.capabilities.options import Choice
from app.config.settings import MAX_HOPS
from app.domain.model import Label, LabelSet, RunOptions
from app.runs.admission import Place
from app.runs.json_schema import Moment, descriptions
from app.runs.notes import MAX_NOTE_LENGTH, Note
from app.runs.projections import RunSummary
from app.runs.publishing import PublishedRun
from app.runs.report_schema import STATES, Options, RunReport, RunUsage
from app.text.claims import MAX_CLAIM_LENGTH, MAX_DATE_LENGTH, MAX_SPEAKER_LENGTH, MIN_CLAIM_LENGTH

HIGHEST_HOP = 999
"""No run has so many; a longer number is not worth reading."""

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
State = Annotated[str, Field(json_schema_extra={"enum": list(STATES)})]


class Request(BaseModel):
    """A JSON object that is sent; a field that is null counts as left out."""

    model_config = ConfigDict(strict=True, extra="forbid", use_attribute_docstrings=True)


class Nothing(Request):
    """No field at all, or no body."""


def _said(about: str, **limits: Any) -> Any:
    """Describe a field; the limits are for the schema, for app/text/claims.py refuses a text in words."""
    return Field(None, description=about, json_schema_extra=limits or None)


class NewClaim(Request):
    """A claim of a batch."""

    claim: str = Field(
        description=f"What to check, {MIN_CLAIM_LENGTH} to {MAX_CLAIM_LENGTH} characters.",
        json_schema_extra={"minLength": MIN_CLAIM_LENGTH},
    )
    speaker: str | None = _said(f"Who made the claim, at most {MAX_SPEAKER_LENGTH} characters.")
    date: str | None = _said(
        "The day it was made, like 2020-10-31; nothing later is evidence.", maxLength=MAX_DATE_LENGTH
    )


SENT_AS: dict[Any, Any] = {
    tuple[str, ...]: list[str],
    LabelSet: Annotated[str, Field(json_schema_extra={"enum": list(LabelSet)})],
}
"""How types of RunOptions are sent."""


def _options() -> dict[str, Any]:
    """The fields of RunOptions that can be chosen, each of which may be left out."""
    hints, about = get_type_hints(RunOptions), descriptions(RunOptions)
    kinds = {each.name: SENT_AS.get(hints[each.name], hints[each.name]) for each in fields(RunOptions)}
    kinds["max_hops"] = Annotated[int, Field(ge=1, le=MAX_HOPS)]
    return {name: (kind | None, _said(about.get(name, ""))) for name, kind in kinds.items() if name != "modules"}


NewRun = create_model(
    "NewRun",
    __base__=NewClaim,
    __doc__="A claim to check. The names that can be sent are in /choices.",
    **_options(),
)


class _Batch(Request):
    claims: SkipValidation[list[str | NewClaim]] = Field(json_schema_extra={"minItems": 1, "maxItems": MAX_CLAIMS})
    """Each as text or as an object."""
    title: str | None = None


NewBatch = create_model("NewBatch", __base__=_Batch, __doc__="Claims to check with the same options.", **_options())


class NewBranch(Request):
    """How to continue a run from one of its hops."""

    hop: Annotated[int, Field(ge=1, le=HIGHEST_HOP)]
    """From which hop to continue."""
    question: str | None = None
    """What to ask in its place; left out, its own question."""
    leave_out: bool | None = None
    """Ask nothing in its place. Takes no question."""
    answerer: str | None = None
    """Who answers from there on; left out, the one that answered so far."""


class NewNote(Request):
    """What the asker thinks of a hop or the verdict."""

    agrees: bool | None = None
    """Whether its writer agrees; left out for no side, and then there is a text."""
    text: str | None = Field(None, json_schema_extra={"maxLength": MAX_NOTE_LENGTH})
    """Why."""


@dataclass(frozen=True, kw_only=True)
class Run(RunReport):
    """A run as it is now."""

    place: Place | None
    concluding: bool
    """Whether its owner asked for an end."""
    published_at: Moment | None
    """Since when it is in the gallery."""
    taken_down: bool
    """Whether the operator keeps it out of the gallery."""


@dataclass(frozen=True)
class RunList:
    """Runs, some at a time."""

    runs: tuple[RunSummary, ...]
    next: str | None
    """The cursor for the runs that follow."""


@dataclass(frozen=True)
class Message:
    """A server-sent event."""

    OPTIONAL: ClassVar = ("event", "id")

    event: Literal["message", "place", "end"]
    """Left out in a message that is a stored event."""
    id: str
    """The number of a stored event."""
    data: str
    """JSON: a StoredEvent, or a Place or null. In the last message nothing that needs reading."""


@dataclass(frozen=True)
class NoteList:
    """The asker's notes on a run."""

    notes: tuple[Note, ...]
    """That on the verdict first, then by hop."""


@dataclass(frozen=True)
class Gallery:
    """Published reports, some at a time."""

    reports: tuple[PublishedRun, ...]
    next: str | None
    """The cursor for those that follow."""


@dataclass(frozen=True)
class ComparedRun:
    """A run's state and what it took, in figures."""

    id: str
    state: State
    label: Label | None
    seconds: Seconds
    usage: RunUsage


@dataclass(frozen=True)
class ComparedQuestion:
    """A question, and the hop that asked it in each run."""

    question: str
    """In the words of the first run that asked it."""
    agree: bool | None
    """Whether the answers are the same; null for fewer than two."""
    hops: tuple[Count | None, ...]
    """For each run the number of the hop that asked it, or null."""


@dataclass(frozen=True)
class PageUse:
    """The hops of one run that met a page."""

    cited: tuple[Count, ...]
    read: tuple[Count, ...]


@dataclass(frozen=True)
class ComparedPage:
    """A page that some run met, and what each did with it."""

    title: str
    source: str
    url: str | None
    """As it was found: follow nothing but http and https."""
    alike: bool
    """Whether the runs that cite it share a passage of it."""
    uses: tuple[PageUse, ...]
    """For each run the hops whose answers cite it, and those that only looked at it."""


@dataclass(frozen=True)
class Comparison:
    """Runs of one claim side by side."""

    runs: tuple[ComparedRun, ...]
    """In the order in which they were named."""
    rows: tuple[ComparedQuestion, ...]
    """The hops, one row a question."""
    pages: tuple[ComparedPage, ...]
    """The pages that a hop cites or looked at, the most cited first."""


@dataclass(frozen=True)
class BatchSummary:
    """A batch in a list."""

    id: str
    title: str
    state: BatchState
    created_at: Moment


@dataclass(frozen=True)
class Batch(BatchSummary):
    """A batch and how far it is."""

    counts: dict[str, Count]
    """The number of claims by label, or by their state where there is none."""
    done: Count
    """Those for which nothing more is done unless somebody asks for it."""
    total: Count
    held_up: str | None
    """Why no batch makes progress now."""


@dataclass(frozen=True)
class BatchList:
    """Batches of the asker's."""

    batches: tuple[BatchSummary, ...]


@dataclass(frozen=True)
class BatchResults:
    """Results of a batch, some at a time."""

    results: tuple[BatchResult, ...]
    next: Count | None
    """What to send as after for those that follow."""


@dataclass(frozen=True)
class Labels:
    """A label set by name."""

    name: LabelSet
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Choices:
    """What a run can be made of here, and of what it is made when nobody chooses."""

    strategies: tuple[Choice, ...]
    presets: tuple[Choice, ...]
    answerers: tuple[Choice, ...]
    models: tuple[Choice, ...]
    corpora: tuple[Choice, ...]
    pursuits: tuple[Choice, ...]
    searches: tuple[Choice, ...]
    labels: tuple[Labels, ...]
    most_hops: Count
    defaults: Options
    samples: tuple[str, ...]
    """Claims to try."""


@dataclass(frozen=True)
class ReadinessPart:
    """One thing that runs need."""

    OPTIONAL: ClassVar = ("message", "mend")

    name: str
    state: Literal["ready", "waiting", "loading", "failed"]
    message: str
    """What is wrong with it."""
    mend: str
    """What makes it right."""


@dataclass(frozen=True)
class Readiness:
    """Whether runs can be carried out now."""

    ready: bool
    parts: tuple[ReadinessPart, ...]
    """The database, the corpora, each model."""


@dataclass(frozen=True)
class Problem:
    """Problem details, RFC 9457."""

    OPTIONAL: ClassVar = ("field", "retry_after")

    type: Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
    title: str
    """The status in words."""
    status: int
    detail: str
    """What happened, in a sentence."""
    field: str
    """The input that is at fault."""
    retry_after: Count
    """When to come again, in seconds."""


REQUESTS = (NewRun, NewBranch, NewNote, NewBatch, Nothing)
ANSWERS = (
    Run,
    RunList,
    Message,
    NoteList,
    Gallery,
    Comparison,
    Batch,
    BatchList,
    BatchResults,
    Choices,
    Readiness,
    Problem,
)
