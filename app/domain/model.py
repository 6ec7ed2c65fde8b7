"""The value types of a claim check: claims, questions, passages, answers, hops, verdicts and options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Self

from app.domain.messages import Code, Text, Words


class Label(StrEnum):
    """The class of a verdict, with its words."""

    plain: str  # on pages
    prompted: str  # in prompts
    asked: str  # in the question that asks for one of several labels
    choice: str  # in Papelo's prompt
    closing: Code  # the last sentence of a rationale

    def __new__(cls, name: str, *words: Any) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.plain, member.prompted, member.asked, member.choice, member.closing = words
        return member

    SUPPORTED = "SUPPORTED", Words("True"), "true", "true", "fully supported by the evidence", Code.SUPPORTS
    REFUTED = "REFUTED", Words("False"), "false", "is it false", "contradicted by the evidence", Code.DISAGREES
    NOT_ENOUGH_EVIDENCE = (
        "NOT_ENOUGH_EVIDENCE",
        Words("Can’t tell"),
        "not enough evidence",
        "is there not enough evidence to tell",
        "insufficient information",
        Code.SAYS_NOTHING,
    )
    CONFLICTING_EVIDENCE = (
        "CONFLICTING_EVIDENCE",
        Words("Sources disagree"),
        "conflicting evidence",
        "conflicting evidence",
        "conflicting evidence",
        Code.MIXED,
    )


class LabelSet(StrEnum):
    """The labels that a verdict may have. TWO is for benchmarks; the default is THREE."""

    TWO = "two"
    THREE = "three"
    FOUR = "four"

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(Label)[: {LabelSet.TWO: 2, LabelSet.THREE: 3, LabelSet.FOUR: 4}[self]]


class Origin(StrEnum):
    """The origin of a passage. Text that a model recited from memory is never shown as a source."""

    CORPUS = "corpus"
    WEB = "web"
    RECITED = "recited"


class HopStatus(StrEnum):
    """The state of a hop. OPEN: in progress. INTERRUPTED: the run ended before the hop did."""

    OPEN = "open"
    KEPT = "kept"
    SET_ASIDE = "set_aside"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim to check, as typed by a person."""

    text: str
    speaker: str | None = None
    date: str | None = None  # ISO date (2020-10-31) on which the claim was made


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A claim of a batch, read from a file or a request."""

    claim: Claim
    problem: str = ""  # why the line is not a valid claim; `claim` then has its text


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text that the claims of a batch were taken from."""

    text: str
    spans: tuple[tuple[int, int], ...]
    """For each claim, in order, the characters [start, end) of `text` that it was taken from."""
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """The question of one hop."""

    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrievable unit of text."""

    text: str
    title: str
    source: str  # name of the source with its licence
    url: str | None = None
    published: str | None = None  # ISO date
    origin: Origin = Origin.CORPUS
    score: float = 0.0  # of the retriever; comparable within one retrieval only
    described: int = 0  # characters at the start that are the source's short description, not from the text itself


@dataclass(frozen=True, slots=True)
class FactCheck:
    """A fact-check that somebody published of this claim or one like it. It is shown, and no part of the verdict."""

    claim: str
    """The claim in the publisher's words."""
    publisher: str
    rating: str
    """The publisher's verdict, in its own words."""
    url: str
    published: str | None = None
    """ISO date."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One search result. `published` is an ISO date or None; any text may be empty."""

    title: str
    site: str
    snippet: str
    url: str
    published: str | None = None
    described: int = 0  # characters of the snippet, as in Passage


@dataclass(frozen=True, slots=True)
class Page:
    """The text of one web page without markup, and its metadata."""

    url: str
    title: str
    site: str
    text: str
    published: str | None = None
    is_fact_check: bool = False  # by its markup
    fact_checks: tuple[FactCheck, ...] = ()  # in its markup
    described: int = 0  # characters of the text, as in Passage


@dataclass(frozen=True, slots=True)
class Span:
    """The characters [start, end) of a passage's text."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of an answerer."""

    text: str | None  # None when no answer was found, which is a result and not a failure
    cited: Span | None = None  # where the answer was found
    retrieved: tuple[Passage, ...] = ()  # those that were read, best first; of web-search also the other hits
    answerer: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hop:
    """One question with its answer and outcome. All hops of a run are numbered from 1, kept or not."""

    number: int
    question: Question
    answer: Answer | None = None
    status: HopStatus = HopStatus.OPEN
    reason: Text = ""

    @property
    def answer_text(self) -> str:
        """Return the text of the answer without surrounding space, or ""."""
        return (self.answer.text or "").strip() if self.answer else ""

    @property
    def from_memory(self) -> bool:
        """Return whether the answer is based on text that a model recited, so it has no source."""
        if self.answer is None or self.answer.text is None:
            return False
        passages = [self.answer.cited.passage] if self.answer.cited else self.answer.retrieved
        return any(passage.origin is Origin.RECITED for passage in passages)

    def closed(self, status: HopStatus, reason: Text) -> Hop:
        return replace(self, status=status, reason=reason)


@dataclass(frozen=True, slots=True)
class Branch:
    """The point where a run branches off another one: hop `hop` of the run `parent`."""

    parent: str
    hop: int
    question: Question | None = None  # the new question of that hop; None when the hop is left out

    @property
    def inherited_hops(self) -> int:
        """Return the number of hops taken over from the parent. A hop that is left out is one of them, as set aside."""
        return self.hop if self.question is None else self.hop - 1


@dataclass(frozen=True, slots=True)
class Imported:
    """Metadata of a report that was imported from a file; nothing in it is verified."""

    made_at: str  # when the check began: ISO format, UTC


MAX_NOTE_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class Note:
    """An owner's opinion on one hop, or on how the run ended. One of `agrees`, `label` and `text` is set."""

    hop: int
    """The number of a hop, 0 for the verdict or what ended the run instead."""
    agrees: bool | None
    """Whether the owner agrees; null for no opinion either way."""
    text: str
    written_at: datetime
    label: Label | None = None
    """The owner's own verdict, which anybody with the run's link can read, with its text; null for none."""
    signed: str = ""
    """The name under the owner's verdict, empty for none."""


Context = tuple[Hop, ...]
"""The kept hops, in the order they were asked."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A yes or no with its reason. `confidence` in [0, 1] is that of the given answer, None when unknown."""

    holds: bool
    reason: Text
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a rationale and the numbers of the hops that support it."""

    text: Text
    hops: tuple[int, ...] = ()
    quote: str = ""
    """The words that it quotes from a passage of these hops, empty for none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The label of a claim with its rationale."""

    label: Label
    rationale: tuple[Sentence, ...]
    missing: Text | None = None  # missing evidence; None when the evidence was sufficient
    confidence: float | None = None  # in [0, 1]; None when unknown


ANSWERERS: dict[str, Literal["passages", "documents", "memory"]] = {
    "retriever-reader": "passages",
    "flan-t5": "memory",
    "reciter-reader": "memory",
    "web-search": "documents",
}
"""What answers come from (passages of the corpora, documents of a search, a model's memory), by answerer, which has a
module of its name in app/modules/answerers."""

Need = Literal[
    "local model",
    "reranker",
    "corpus",
    "language model",
    "flan-t5",
    "search",
    "question_seq2seq",
    "next_question_seq2seq",
]
"""What an answerer or a preset needs; a choice is unavailable where a need of it is not met."""

QACHECK = "qacheck"
"""The preset of the question-guided strategy with QACheck's own prompts."""

CORPUS_SEARCH = "corpus"
"""The name of the search over the local corpora, an alternative to search engines; no query leaves the machine."""


@dataclass(frozen=True, slots=True)
class Range:
    """The limits of an option that is a number, both inclusive. `str()` is the message for a value outside of them."""

    name: str
    minimum: int
    maximum: int
    legend: str  # in the claim form
    help: str  # on the command line
    setting: str = ""  # that has the default
    needs: Literal["search", "language model"] | None = None  # without which it has no effect
    is_whole: bool = True

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            return False
        return self.minimum <= value <= self.maximum

    def __str__(self) -> str:
        return self.problem

    @property
    def problem(self) -> Words:
        limits = {"name": self.name, "minimum": self.minimum, "maximum": self.maximum}
        if self.is_whole:
            return Words("The {name} must be a whole number from {minimum} to {maximum}.", **limits)
        return Words("The {name} must be a number from {minimum} to {maximum}.", **limits)


@dataclass(frozen=True, slots=True)
class Tick:
    """The words of an option that is on or off."""

    if_on: str
    if_off: str
    flag: str  # on the command line, for the value that is not the default
    help: str
    title: str = ""  # in the claim form
    hint: str = ""
    needs: Literal["search", "language model"] | None = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run, stored with the run."""

    strategy: str = "question-guided"
    """The strategy of the check."""
    answerer: str = "retriever-reader"
    """The module that answers the questions."""
    labels: LabelSet = LabelSet.THREE
    """Labels that the verdict may have."""
    max_hops: int = 5
    """The maximum number of questions."""
    modules: tuple[tuple[str, str], ...] = ()
    """The (role, implementation and version) pairs that were used, for readers of the report."""
    preset: str = "local"
    """Preset of modules, or of an evidence pursuit."""
    model: str | None = None
    """Language model of the prompted modules; null for none."""
    corpora: tuple[str, ...] = ("vital",)
    """Corpora to search."""
    fresh: bool = False
    """Repeat every call instead of using cached replies."""
    search: str | None = None
    """Search engine of the answerer web-search, or corpus if it searches the corpora; null for every other answerer."""
    undated: bool = True
    """True if undated pages are evidence for a dated claim."""
    fact_checks: bool = True
    """True if fact-checkers' articles are evidence."""
    look_up_fact_checks: bool = False
    """True to look up published fact-checks of the claim, which stand beside the verdict and do not affect it."""
    model_seed: int | None = None
    """Seed of the language model's replies; null for the usual one, or without a language model."""
    temperature: float | None = None
    """Temperature of the language model's replies; null for the usual one, 0."""
    max_tokens: int | None = None
    """Maximum number of tokens in one reply of the language model; null for each prompt's own limit."""


DEFAULTS = RunOptions()
_MODEL: Literal["language model"] = "language model"
RANGES = {
    "max_hops": Range(
        Words("number of hops"), 1, 10, Words("Steps, at most"), "Maximum number of questions", "max_hops"
    ),
    "temperature": Range(
        Words("temperature"),
        0,
        2,
        legend=Words("Temperature of the language model"),
        help="Temperature of replies",
        setting="model_temperature",
        needs=_MODEL,
        is_whole=False,
    ),
    "model_seed": Range(
        Words("model's seed"), 0, 2**31 - 1, Words("Its seed"), "Seed of replies", "model_seed", _MODEL
    ),
    "max_tokens": Range(
        Words("number of a reply's tokens"),
        1,
        100_000,
        legend=Words("Tokens of a reply, at most"),
        help="Maximum tokens of a reply",
        setting="model_max_tokens",
        needs=_MODEL,
    ),
}
"""Each option that is a number, by its field in RunOptions, in the order of the claim form."""
TICKS = {
    "undated": Tick(
        Words("undated pages too"),
        Words("dated pages only"),
        flag="dated",
        help="With web-search and a dated claim: leave out pages without a date.",
        title=Words("Use web pages without a date"),
        hint=Words("They are marked. Without them a dated claim is checked with dated pages only."),
        needs="search",
    ),
    "fact_checks": Tick(
        Words("fact-checks included"),
        Words("no fact-checks"),
        flag="no-fact-checks",
        help="With web-search: leave out fact-checkers' articles.",
        title=Words("Include existing fact-checks"),
        hint=Words("Turn this off to make Hopcheck reach its own verdict."),
        needs="search",
    ),
    "look_up_fact_checks": Tick(
        Words("published fact-checks looked up"),
        Words("no published fact-checks"),
        flag="look-up-fact-checks",
        help="Look up published fact-checks of the claim.",
    ),
}
"""The other options that are on or off, except `fresh`."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of model calls. Retrieval costs no tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    """In the model's own tokens."""
    completion_tokens: int = 0
    """In the model's own tokens."""
    cached: int = 0
    """Calls that were not made because their reply was cached."""
    cost: float | None = None
    """In the currency of the operator's prices; null if no price is set."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached + other.cached,
            None if self.cost is None and other.cost is None else (self.cost or 0.0) + (other.cost or 0.0),
        )
