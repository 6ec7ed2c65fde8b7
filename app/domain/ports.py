"""Protocols for the five modules of a claim check (QACheck, section 3) and the services that they use.

The methods of modules and services may raise `CallFailed`. Strategies turn it into a failed hop, a failed step (claim
verifier) or a failed run (reasoner). Implementations must not read a hop's `reason`: in a speculative call the last hop
has none yet (strategies/speculation.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from app.domain.events import Event
from app.domain.messages import Text
from app.domain.model import (
    Answer,
    Claim,
    Context,
    Hop,
    Judgement,
    Label,
    Page,
    Passage,
    Question,
    RunOptions,
    SearchHit,
    Verdict,
)
from app.domain.report import Report


class ClaimVerifier(Protocol):
    """D: whether the context is sufficient for a verdict (QACheck, section 3.1)."""

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement: ...


class QuestionGenerator(Protocol):
    """Q: the next question (section 3.2), never one that was asked before; None when no question is left."""

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None: ...


class QuestionAnswerer(Protocol):
    """A: the answer to a question, with evidence (section 3.3)."""

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer: ...


class QAValidator(Protocol):
    """V: whether a question-answer pair is useful for the claim, given the context (section 3.4)."""

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement: ...


class Reasoner(Protocol):
    """R: the verdict with one of `labels` (section 3.5); `context` is never empty."""

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict: ...


class Retriever(Protocol):
    """Returns the `k` best passages; those of sources with dates as they were before the ISO date `before`."""

    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]: ...


class Reranker(Protocol):
    """Sorts passages by relevance and sets its scores on them."""

    def rerank(self, query: str, passages: Sequence[Passage]) -> tuple[Passage, ...]: ...


class Reader(Protocol):
    """Finds an answer in the passages; the Answer's text is None when there is none.

    `claim` and `context`, the claim that is checked and the hops kept so far, tell what the question is about.
    """

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer: ...


class Completer(Protocol):
    """A language model that continues a text.

    `complete` decodes greedily up to `max_tokens` tokens, unless the run's options set other sampling, and leaves out
    the first of `stop` and what follows.
    """

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str: ...


class TranscriptModel(Completer, Protocol):
    """A language model that also says which of several words is likely to follow a text."""

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = (), without: str = "") -> str:
        """Return the greedy continuation of `prompt`; `without` is a word that it does not have."""

    def probabilities(self, prompt: str, words: Sequence[str]) -> tuple[float, ...]:
        """Return the probability of each of `words` as the next one; they sum to 1."""


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """The option that a language model chose."""

    option: str  # exactly as offered
    probability: float | None = None  # among the options; None when unknown


class TextGenerator(Completer, Protocol):
    """A language model that also chooses between options, and raises UnparseableOutput for another reply."""

    name: str  # the operator's name for it
    destination: str | None  # host that gets the prompts; None for this machine

    def choose(self, prompt: str, options: Sequence[str]) -> OptionChoice: ...


@dataclass(frozen=True, slots=True)
class Chat:
    """A prompt whose reply is a JSON object that fits `schema`."""

    name: str  # of the schema
    system: str  # the instruction
    shown: tuple[tuple[str, str], ...]  # demonstrations: a case and its reply in JSON
    case: str
    schema: Mapping[str, Any]


@runtime_checkable
class ChatGenerator(Protocol):
    """A language model that can reply in JSON. Both methods return None where its server cannot: then use text."""

    def complete_chat(self, chat: Chat, *, max_tokens: int) -> str | None:
        """Return the reply, an object with all properties of the schema."""

    def choose_in_chat(self, chat: Chat, options: Sequence[str]) -> OptionChoice | None:
        """Return the option that is the value of the schema's only property."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Minimum probabilities for the verdicts SUPPORTED and REFUTED."""

    supported: float
    refuted: float

    def label(self, probabilities: Mapping[Label, float]) -> Label | None:
        """Return SUPPORTED or REFUTED, the more probable one, if its probability reaches its bound."""
        likely = max((Label.SUPPORTED, Label.REFUTED), key=lambda label: probabilities[label])
        bound = self.supported if likely is Label.SUPPORTED else self.refuted
        return likely if probabilities[likely] >= bound else None


@dataclass(frozen=True, slots=True)
class Ask:
    """Next step: ask one more question."""

    question: Question


@dataclass(frozen=True, slots=True)
class Decide:
    """Next step: the context decides the claim."""

    holds: bool


class Pursuer(Protocol):
    """Asks the questions of an evidence pursuit, or decides the claim (Papelo, arXiv 2411.05762, section 3.1)."""

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return up to `n` opening questions, the most useful one first."""

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        """Return a question or a decision, None when there is neither. `set_aside` are hops without an answer."""


class Paraphraser(Protocol):
    """Returns up to `n` paraphrases of a question, all different from each other and from the question."""

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]: ...


@dataclass(frozen=True, slots=True)
class FreeAnswer:
    """The whole reply of a model that answered instead of choosing a document; "" if it gives no answer."""

    text: str


class DocumentChooser(Protocol):
    """Chooses, from the search results, the document most likely to answer the question (Papelo, section 3.2)."""

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer: ...


class WebSearch(Protocol):
    """Returns up to `k` search results, best first, published before the ISO date `before`.

    Where the provider cannot filter by date, results of unknown date are included; callers check the pages.
    """

    name: str  # the operator's name for it
    destination: str | None  # host that gets the query; None for this machine

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]: ...


class PageReader(Protocol):
    """Returns the whole text of a page that a search found. Raises CallFailed for an unreadable page."""

    def read(self, hit: SearchHit) -> Page: ...


class RunCommand(Enum):
    """What a run must do next, by its owner's request or because a limit was reached."""

    CONTINUE = "go_on"
    FINISH_AFTER_HOP = "conclude"
    """Give the verdict when the current hop has ended."""
    FINISH_NOW = "conclude_now"
    """Give the verdict at once, without the current hop."""


class Control(Protocol):
    """The command to a run with its reason, read between two calls by any of its threads."""

    def command(self) -> RunCommand: ...

    def reason(self) -> Text: ...


class Strategy(Protocol):
    """A way of checking a claim. Yields events, the last one terminal.

    `so_far` is used to resume and to branch: its hops that were kept, set aside or failed are taken over.
    """

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]: ...
