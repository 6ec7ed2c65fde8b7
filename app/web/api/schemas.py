"""Request and response schemas of the JSON API, from which its OpenAPI document is derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SkipValidation, create_model

from app.batches.files import MAX_CLAIMS, NO_CLAIMS, BatchResult
from app.batches.service import BatchState
from app.capabilities.options import Choice
from app.config.settings import STRATEGIES
from app.domain.comparison import MAX_RUNS, MIN_RUNS
from app.domain.model import ANSWERERS, MAX_NOTE_LENGTH, RANGES, Label, LabelSet, RunOptions
from app.presets import GUIDED_PRESETS, PURSUIT_PRESETS, RECIPES
from app.runs.admission import Place
from app.runs.json_schema import WHOLE, Moment, descriptions
from app.runs.lifecycle import PublishedRun
from app.runs.notes import MAX_SIGNATURE_LENGTH
from app.runs.projections import RunSummary
from app.runs.report_schema import STATES, Options, RunNote, RunReport, RunUsage
from app.text.claims import MAX_CLAIM_LENGTH, MAX_DATE_LENGTH, MAX_SPEAKER_LENGTH, MIN_CLAIM_LENGTH

MAX_HOP_NUMBER = 999
"""Upper limit of hop numbers in requests; no run has as many hops."""
MAX_CLAIM_NUMBER = 9_999_999
"""Upper limit of the numbers of a batch's claims in requests; it fits a database integer."""

MAX_EVENT_NUMBER = 10**17 - 1

DEFAULT_LISTED = 20
ID: Any = {"type": "string", "minLength": 1}
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
State = Annotated[str, Field(json_schema_extra={"enum": list(STATES)})]


def _text(control: str) -> tuple[str, str]:
    """Return the patterns of a text without these characters, and of one that is not blank either."""
    return f"^[^{control}]*$", rf"^[^{control}]*[^\s{control}][^{control}]*$"


TEXT, SOME_TEXT = _text(r"\u0000-\u0008\u000e-\u001f\u007f")
NOTE, SOME_NOTE = _text(r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f")
CLAIM_TEXT: Any = {"minLength": MIN_CLAIM_LENGTH, "pattern": TEXT}
"""Limits of a claim that every validator knows."""


class Request(BaseModel):
    """A JSON object in a request; a null field counts as omitted."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Nothing(Request):
    """An object without fields."""


def _optional(about: str, **limits: Any) -> Any:
    """Return an optional field. `limits` go into the schema only; pydantic does not enforce them."""
    return Field(None, description=about, json_schema_extra=limits or None)


class NewClaim(Request):
    """A claim of a batch."""

    # No maxLength: surrounding spaces and the second character of a CRLF do not count (app/text/claims.py).
    claim: str = Field(
        description=f"What to check, {MIN_CLAIM_LENGTH} to {MAX_CLAIM_LENGTH} characters.",
        json_schema_extra=CLAIM_TEXT,
    )
    speaker: str | None = _optional(f"Who made the claim, at most {MAX_SPEAKER_LENGTH} characters.", pattern=TEXT)
    date: str | None = _optional(
        "The day it was made, like 2020-10-31; a web search then uses nothing dated that day or later.",
        maxLength=MAX_DATE_LENGTH,
    )


SOURCE = "Where answers come from: a name of `sources` in /choices, in place of `answerer`, `corpora` and `search`."
RECIPE = "A method: a name of `recipes` in /choices, for strategy, preset and source where these are omitted."


# Names that a site may offer: the schema alone has them, because a site refuses those that it lacks in a sentence.
Answerer = Annotated[str, Field(json_schema_extra={"enum": list(ANSWERERS)})]
Strategy = Annotated[str, Field(json_schema_extra={"enum": list(STRATEGIES)})]
Preset = Annotated[str, Field(json_schema_extra={"enum": list(GUIDED_PRESETS | PURSUIT_PRESETS)})]
RecipeName = Annotated[str, Field(json_schema_extra={"enum": list(RECIPES)})]


def _option_fields() -> dict[str, Any]:
    hints = get_type_hints(RunOptions)
    about = {**descriptions(RunOptions), "recipe": RECIPE, "source": SOURCE}
    del hints["modules"]  # that records what was used
    hints |= {"strategy": Strategy, "preset": Preset, "answerer": Answerer, "recipe": RecipeName, "source": str}
    for name, limits in RANGES.items():
        number = int if limits.is_whole else float
        hints[name] = Annotated[number, Field(ge=limits.minimum, le=limits.maximum), *[WHOLE] * limits.is_whole]
    return {name: (kind | None, _optional(about.get(name, ""))) for name, kind in hints.items()}


_Options = create_model("_Options", __base__=Request, **_option_fields())


class NewRun(_Options, NewClaim):  # type: ignore[valid-type, misc]
    """A claim with options of /choices."""


class NewBatch(_Options):  # type: ignore[valid-type, misc]
    """Claims with shared options."""

    # Each claim is validated later: pydantic would keep an error for each of a million.
    claims: SkipValidation[list[Annotated[str, Field(json_schema_extra=CLAIM_TEXT)] | NewClaim]] = Field(
        description="Each claim as text or as an object.", json_schema_extra={"minItems": 1, "maxItems": MAX_CLAIMS}
    )
    title: str | None = None


class NewBranch(Request, use_attribute_docstrings=True):
    """A branch that continues a run from one of its hops."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {
                "required": ["question", "leave_out"],
                "properties": {"question": {"type": "string"}, "leave_out": {"const": True}},
            }
        }
    )

    hop: Annotated[int, Field(ge=1, le=MAX_HOP_NUMBER), WHOLE]
    """The number of the hop from which to continue."""
    question: str | None = Field(None, json_schema_extra={"pattern": SOME_TEXT})
    """The question to ask instead; if omitted, the hop's own question."""
    leave_out: bool | None = None
    """Drop the hop and ask nothing instead. Excludes `question`."""
    answerer: Answerer | None = None
    """The answerer from this hop on; if omitted, the run's answerer."""


_OPINIONS: Any = {
    "agrees": {"type": "boolean"},
    "text": {"type": "string", "pattern": SOME_NOTE},
    "label": {"type": "string"},
}


class NewNote(Request, use_attribute_docstrings=True):
    """The owner's opinion on a hop or the verdict."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": [name], "properties": {name: kind}} for name, kind in _OPINIONS.items()]
        }
    )

    agrees: bool | None = None
    """True if the owner agrees. If omitted, the note has no opinion either way, and needs a text."""
    text: str | None = Field(None, json_schema_extra={"maxLength": MAX_NOTE_LENGTH, "pattern": NOTE})
    """The reason."""
    label: Label | None = None
    """The owner's own verdict on the claim, for hop 0 only; anybody with the run's link can read it, with the text."""
    signed: str | None = Field(None, json_schema_extra={"maxLength": MAX_SIGNATURE_LENGTH})
    """The name under that verdict."""


INVALID = {
    **{name: limits.problem for name, limits in RANGES.items()},
    "claim": "Please write a claim, as text.",
    "hop": "hop must be the number of a hop, a whole number from 1.",
    "claims": f"{NO_CLAIMS} Each must be text, or an object with the fields claim, speaker and date.",
    "corpora": "corpora must be a list of names.",
}
"""Messages for missing and invalid values, where the type of the field alone would not explain enough."""


def _whole_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 18):  # 18 digits may exceed a column of the database
        raise ValueError("must be a whole number")
    return int(text)


Limit = Annotated[
    int, Field(ge=1, le=100, json_schema_extra={"default": DEFAULT_LISTED}), BeforeValidator(_whole_number)
]


class Limited(BaseModel, use_attribute_docstrings=True):
    """The query of a list."""

    limit: Limit = DEFAULT_LISTED
    """The maximum number of entries."""


class Listing(Limited):
    """The query of a list in pages."""

    cursor: str | None = Field(None, json_schema_extra={"pattern": r"^[0-9]{1,17}(\.[^\u0000]*)?$"})
    """`next` of the previous page."""


class RunListing(Listing):
    """The query of the list of runs."""

    q: str = Field("", max_length=MAX_CLAIM_LENGTH)
    """Words of the claim, whatever their case."""
    label: Label | Literal["running", "failed", "interrupted"] | None = None
    """The label of the verdict, or the state of a run without one."""
    answerer: str = Field("", json_schema_extra={"enum": ["", *ANSWERERS]})
    """The run's answerer."""


class GalleryListing(Listing):
    """The query of the gallery."""

    label: Label | None = None
    """The label of the verdict."""


class ResultListing(Limited):
    """The query of a batch's results."""

    after: Annotated[int, Field(ge=0, le=MAX_CLAIM_NUMBER), BeforeValidator(_whole_number)] = 0
    """`next` of the previous page."""


class Following(BaseModel, use_attribute_docstrings=True):
    """The query of a stream."""

    after: Annotated[int, Field(ge=0, le=MAX_EVENT_NUMBER), BeforeValidator(_whole_number)] = 0
    """The number of the last event received; the stream continues after it."""


class Compared(BaseModel, use_attribute_docstrings=True):
    """The query of a comparison."""

    run: list[str] = Field(
        json_schema_extra={"minItems": MIN_RUNS, "maxItems": MAX_RUNS, "uniqueItems": True, "items": ID}
    )
    """The ids of runs of one claim; repeat the parameter for each."""


class WithNotes(BaseModel, use_attribute_docstrings=True):
    """The query of an export that may have notes."""

    notes: Literal["yes"] | None = None
    """Include your notes. Only for your own runs."""


@dataclass(frozen=True, kw_only=True)
class Run(RunReport):
    """The current state of a run."""

    place: Place | None
    concluding: bool
    """True if its owner requested a verdict from the hops so far."""
    published_at: Moment | None
    """The time of its publication in the gallery."""
    taken_down: bool
    """True if the operator excluded it from the gallery."""


@dataclass(frozen=True)
class RunList:
    """A page of a list of runs."""

    runs: tuple[RunSummary, ...]
    next: str | None
    """The cursor of the next page."""


@dataclass(frozen=True)
class Message:
    """A server-sent event."""

    OPTIONAL: ClassVar = ("event", "id")  # fields of this class that may be missing

    event: Literal["message", "place", "end"]
    """`message` (SSE's default, not sent) for a stored event, `place` for a place in the queue, `end` for the last."""
    id: str
    """The number of a stored event."""
    data: str
    """`message`: a StoredEvent as JSON; `place`: a Place, null once the run no longer waits; `end`: to be ignored."""


@dataclass(frozen=True)
class NoteList:
    """The principal's notes on a run."""

    notes: tuple[RunNote, ...]
    """The note on the verdict first, then by hop."""


@dataclass(frozen=True)
class Gallery:
    """A page of the list of published reports."""

    reports: tuple[PublishedRun, ...]
    next: str | None
    """The cursor of the next page."""


@dataclass(frozen=True)
class ComparedRun:
    """A run's state and cost in figures."""

    id: str
    state: State
    label: Label | None
    seconds: Seconds
    usage: RunUsage


@dataclass(frozen=True)
class ComparedQuestion:
    """A question, and the hop that asked it in each run."""

    question: str
    """As worded by the first run that asked it."""
    agree: bool | None
    """True if the answers are equal; null for fewer than two."""
    hops: tuple[Count | None, ...]
    """For each run, the number of the hop that asked it, or null."""


@dataclass(frozen=True)
class PageUse:
    """The hops of one run that used a page."""

    cited: tuple[Count, ...]
    """Numbers of the hops whose answers cite the page."""
    read: tuple[Count, ...]
    """Numbers of the hops that retrieved it and do not cite it."""


@dataclass(frozen=True)
class ComparedPage:
    """A page that some run found, and its use by each run."""

    title: str
    source: str
    url: str | None
    """Unchanged from the source: follow only http and https."""
    alike: bool
    """True if the runs that cite it share a passage of it."""
    uses: tuple[PageUse, ...]
    """How each run used it, in the order of the runs."""


@dataclass(frozen=True)
class Comparison:
    """Runs of one claim side by side."""

    runs: tuple[ComparedRun, ...]
    """In the order of the request."""
    rows: tuple[ComparedQuestion, ...]
    """The hops, one row per question."""
    pages: tuple[ComparedPage, ...]
    """The pages that a hop cites or retrieved, the most cited first."""


@dataclass(frozen=True)
class BatchSummary:
    """A batch in a list."""

    id: str
    title: str
    state: BatchState
    created_at: Moment


@dataclass(frozen=True)
class Batch(BatchSummary):
    """A batch and its progress."""

    counts: dict[str, Count]
    """The number of claims by label, or by state for claims without one."""
    done: Count
    """The number of claims that need no more work unless they are retried."""
    total: Count
    held_up: str | None
    """The reason why this batch makes no progress now."""


@dataclass(frozen=True)
class BatchList:
    """The principal's batches."""

    batches: tuple[BatchSummary, ...]


@dataclass(frozen=True)
class BatchResults:
    """A page of the results of a batch."""

    results: tuple[BatchResult, ...]
    next: Count | None
    """The value of `after` for the next page."""


@dataclass(frozen=True)
class Labels:
    """A label set by name."""

    name: LabelSet
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Choices:
    """The available options of a run on this site, and their defaults."""

    recipes: tuple[Choice, ...]
    """Methods, each of which sets several options."""
    sources: tuple[Choice, ...]
    strategies: tuple[Choice, ...]
    presets: tuple[Choice, ...]
    answerers: tuple[Choice, ...]
    models: tuple[Choice, ...]
    corpora: tuple[Choice, ...]
    pursuits: tuple[Choice, ...]
    searches: tuple[Choice, ...]
    fact_checks: Choice
    """The lookup of published fact-checks."""
    labels: tuple[Labels, ...]
    most_hops: Count
    defaults: Options
    samples: tuple[str, ...]
    """Sample claims."""


@dataclass(frozen=True)
class ReadinessPart:
    """A component that runs need."""

    OPTIONAL: ClassVar = ("message", "mend")

    name: str
    state: Literal["ready", "waiting", "loading", "failed"]
    message: str
    """The problem, in a sentence."""
    mend: str
    """The command or setting that fixes it."""


@dataclass(frozen=True)
class Readiness:
    """The state of the components that runs need."""

    ready: bool
    parts: tuple[ReadinessPart, ...]
    """The database, the corpora and each model."""


@dataclass(frozen=True)
class Problem:
    """Problem details, RFC 9457."""

    OPTIONAL: ClassVar = ("field", "retry_after")

    type: Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
    title: str
    """The status in words."""
    status: int
    detail: str
    """One sentence about what happened."""
    field: str
    """The invalid input."""
    retry_after: Count
    """Seconds to wait before retrying."""
