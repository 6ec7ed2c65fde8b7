"""The words of a claim check as values: frozen, slotted, comparable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Label(StrEnum):
    """The class of a verdict."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    NOT_ENOUGH_EVIDENCE = "NOT_ENOUGH_EVIDENCE"
    CONFLICTING_EVIDENCE = "CONFLICTING_EVIDENCE"


class LabelSet(StrEnum):
    """Which labels a verdict may have. Two exists for the benchmarks; people get three, or four when they ask."""

    TWO = "two"
    THREE = "three"
    FOUR = "four"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of this set."""
        return tuple(Label)[: {LabelSet.TWO: 2, LabelSet.THREE: 3, LabelSet.FOUR: 4}[self]]


class Origin(StrEnum):
    """Where a passage came from. What a model recites from memory is never shown as a source."""

    CORPUS = "corpus"
    WEB = "web"
    RECITED = "recited"


class HopStatus(StrEnum):
    """What became of a hop. OPEN: still being worked on. INTERRUPTED: the run ended in the middle of it."""

    OPEN = "open"
    KEPT = "kept"
    SET_ASIDE = "set_aside"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Claim:
    """What is checked, as typed by a person; `date` is an ISO date (2020-10-31), the day on which it was made."""

    text: str
    speaker: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What one hop asks."""

    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrievable unit of text.

    `source` names where it is from with its licence, `url` leads there (None where nothing does), `published` is an
    ISO date or None, `score` is the retriever's own and compares within one retrieval only.
    """

    text: str
    title: str
    source: str
    url: str | None = None
    published: str | None = None
    origin: Origin = Origin.CORPUS
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchHit:
    """What a search back end says of one document. `published` is an ISO date or None; any text may be empty."""

    title: str
    site: str
    snippet: str
    url: str
    published: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """The text of one web page, without its markup, and what the page says of itself."""

    url: str
    title: str
    site: str
    text: str
    published: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a passage's text: characters [start, end)."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answerer found. `text` is None when it found no answer, which is a result and no failure.

    `cited` is where the answer stands; `retrieved` is everything that was looked at, best first.
    """

    text: str | None
    cited: Span | None = None
    retrieved: tuple[Passage, ...] = ()
    answerer: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hop:
    """One question, what came back, and what became of it. Numbered from 1, kept or not."""

    number: int
    question: Question
    answer: Answer | None = None
    status: HopStatus = HopStatus.OPEN
    reason: str = ""

    @property
    def from_memory(self) -> bool:
        """Whether its answer rests on what a model recited, so that there is no source behind it."""
        if self.answer is None or self.answer.text is None:
            return False
        passages = [self.answer.cited.passage] if self.answer.cited else self.answer.retrieved
        return any(passage.origin is Origin.RECITED for passage in passages)

    def closed(self, status: HopStatus, reason: str) -> Hop:
        """The same hop with its end written on it."""
        return replace(self, status=status, reason=reason)


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a run leaves the one that it branches off: at hop `hop` of the run `parent`.

    `question` is what that hop asks here; None where it was left out and the run goes on behind it.
    """

    parent: str
    hop: int
    question: Question | None = None

    @property
    def inherited_hops(self) -> int:
        """So many hops stood before this run asked one of its own."""
        return self.hop if self.question is None else self.hop - 1


@dataclass(frozen=True, slots=True)
class Imported:
    """What a report says of itself that was read from a file; nobody here has seen its check, so nothing is verified.

    `made_at` is when its check began, in ISO format and UTC.
    """

    made_at: str


Context = tuple[Hop, ...]
"""The kept hops, in the order they were asked."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A yes or no with its reason; `confidence` in [0, 1] is of the answer given, None where the module has none."""

    holds: bool
    reason: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a rationale and the numbers of the hops it rests on."""

    text: str
    hops: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The label, why, what was missing (None when it was enough), and how sure in [0, 1] (None: not known)."""

    label: Label
    rationale: tuple[Sentence, ...]
    missing: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a person chose for a run, stored whole with the run."""

    strategy: str = "question-guided"
    """How to check."""
    answerer: str = "retriever-reader"
    """Who answers the questions."""
    labels: LabelSet = LabelSet.THREE
    """Labels that the verdict may have."""
    max_hops: int = 5
    """Questions asked at most."""
    modules: tuple[tuple[str, str], ...] = ()
    """The (role, implementation and version) pairs that were used, for those who read the report later."""
    preset: str = "local"
    """Mix of modules, or way of pursuing evidence."""
    model: str | None = None
    """Language model for what prompts one; null for none."""
    corpora: tuple[str, ...] = ("vital",)
    """Corpora to search."""
    fresh: bool = False
    """Ask everything anew, also what the cache knows."""
    search: str | None = None
    """Search engine of the answerer web-search; corpus for the corpora, null where nothing searches."""
    undated: bool = True
    """Whether found pages without a date are evidence for a claim with one."""
    fact_checks: bool = True
    """Whether what fact-checkers wrote is evidence."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls cost. Retrieval costs no tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    """In the model's own tokens."""
    completion_tokens: int = 0
    """In the model's own tokens."""
    cached: int = 0
    """Calls that were not made, because their reply was kept."""
    cost: float | None = None
    """In the currency of the operator's prices; null where no price is set."""

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached + other.cached,
            None if self.cost is None and other.cost is None else (self.cost or 0.0) + (other.cost or 0.0),
        )
