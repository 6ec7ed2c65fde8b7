"""The roles of a claim check as Protocols: the five modules (QACheck, section 3), and what they lean on.

Every method may raise `CallFailed`; the strategy turns it into a failed hop. Nothing here may return a guess. What a
module says follows from questions and answers, not from a hop's `reason`: one that is asked ahead of its turn finds
none in the last hop (ahead.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from app.domain.events import Event
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
    """D: is the context enough to decide? (QACheck, section 3.1)"""

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement: ...


class QuestionGenerator(Protocol):
    """Q: the next question (section 3.2), never one already asked; None when there is nothing left to ask."""

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None: ...


class QuestionAnswerer(Protocol):
    """A: an answer with its evidence (section 3.3)."""

    def answer(self, question: Question, claim: Claim) -> Answer: ...


class QAValidator(Protocol):
    """V: is this pair useful to the claim, given the context? (section 3.4)"""

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement: ...


class Reasoner(Protocol):
    """R: the verdict (section 3.5), with one of `labels`; `context` is never empty."""

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict: ...


class Retriever(Protocol):
    """The k best passages for a query, best first, fewer when there are no more."""

    def retrieve(self, query: str, k: int) -> tuple[Passage, ...]: ...


class Reranker(Protocol):
    """The same passages in a better order, with the reranker's scores on them."""

    def rerank(self, query: str, passages: Sequence[Passage]) -> tuple[Passage, ...]: ...


class Reader(Protocol):
    """An answer that stands in one of the passages, or an Answer whose text is None."""

    def read(self, question: Question, passages: Sequence[Passage]) -> Answer: ...


class Completer(Protocol):
    """A language model that goes on with a text: greedy, at most `max_tokens`, ended by any of `stop` (left out)."""

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options that were offered, word for word, and its probability among them (None: not known)."""

    option: str
    probability: float | None = None


class TextGenerator(Completer, Protocol):
    """A language model that is trusted with decisions, too.

    `name` is what the operator calls it and `destination` who gets the prompts: a host name, None for this machine.
    `choose` answers a prompt with one of `options`; UnparseableOutput when it will not. It never guesses.
    """

    name: str
    destination: str | None

    def choose(self, prompt: str, options: Sequence[str]) -> Choice: ...


class EntailmentModel(Protocol):
    """For each (claim, evidence passages) pair the probabilities of (supports, refutes, not enough), summing to 1."""

    def classify(self, pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[tuple[float, float, float]]: ...


@dataclass(frozen=True, slots=True)
class Ask:
    """A next step: one more question."""

    question: Question


@dataclass(frozen=True, slots=True)
class Decide:
    """A next step: the context decides the claim."""

    holds: bool


class Pursuer(Protocol):
    """The questioner of evidence pursuit (Papelo, arXiv 2411.05762, section 3.1)."""

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """1 to `n` questions that open the check, the most telling one first; empty when there is none to ask."""

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        """One more question, or a decision; None when there is neither. `set_aside` failed or found nothing."""


class Paraphraser(Protocol):
    """The same question in other words, at most `n` times, each different from the others and from the question."""

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]: ...


@dataclass(frozen=True, slots=True)
class FreeAnswer:
    """What a model said instead of choosing a document: its whole reply, which is then the answer."""

    text: str


class DocumentChooser(Protocol):
    """The one document that will best answer the question, from what the search says of each (section 3.2)."""

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer: ...


class WebSearch(Protocol):
    """The `k` best hits, best first, fewer when there are no more. `before` is an ISO date: nothing from that day on.

    A back end whose provider cannot filter by date returns hits of unknown date, too; whoever asks looks at the pages.
    `name` is what the operator calls it and `destination` the host that gets the query, None for this machine.
    """

    name: str
    destination: str | None

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]: ...


class PageReader(Protocol):
    """The whole text of a page that a search found. CallFailed says why it cannot be had."""

    def read(self, hit: SearchHit) -> Page: ...


class RunCommand(Enum):
    """What a run is asked to do next."""

    CONTINUE = "go_on"
    FINISH_AFTER_HOP = "conclude"
    """Conclude when the current hop has ended."""
    FINISH_NOW = "conclude_now"
    """Conclude at once, without the current hop."""
    STOP = "stop"


class Control(Protocol):
    """Asked between two calls, by any thread of the run.

    `reason` says why the command is not CONTINUE, in a sentence for the page.
    """

    def command(self) -> RunCommand: ...

    def reason(self) -> str: ...


class Strategy(Protocol):
    """A way of checking a claim. Yields what happens, ends with a terminal event.

    `so_far` is the one door for resuming and branching: a report whose closed hops stand.
    """

    def run(
        self, claim: Claim, options: RunOptions, so_far: Report | None = None, control: Control | None = None
    ) -> Iterator[Event]: ...
