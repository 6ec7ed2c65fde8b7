"""The named presets of evidence pursuit: the paper's system and every row of its Table 2, and one that needs no key.

A preset says who asks and who does the rest, what a run does differently, how documents are used, and which labels it
goes with. The rows of the table differ from `seq+llm` in one thing each, which `changes` names for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.domain.model import LabelSet
from app.strategies.evidence_pursuit import Variant

Questioner = Literal["seq", "llm", "local"]
"""A fine-tuned sequence-to-sequence model, a prompted language model, or the parts that install with Hopcheck."""


@dataclass(frozen=True, slots=True)
class PursuitPreset:
    """One preset. `first` writes the first question, or all of them at once; `then` takes every later step.

    `others` paraphrases, chooses the document and gives the late verdict. `long_document`, `multi_document` and
    `metadata` are the web answerer's settings of these names. `labels` are those that the preset goes with when nobody
    chooses; a person may choose others.
    """

    name: str
    title: str
    changes: str
    first: Questioner = "seq"
    then: Questioner = "llm"
    others: Literal["llm", "local"] = "llm"
    variant: Variant = Variant()  # noqa: RUF009 - it is frozen
    long_document: bool = True
    multi_document: bool = False
    metadata: bool = True
    labels: LabelSet = LabelSet.THREE

    @property
    def needs_model(self) -> bool:
        """Whether some part prompts a language model."""
        return "llm" in self._at_work

    @property
    def needs_first_seq2seq(self) -> bool:
        """Whether the model that is fine-tuned to write first questions must be there."""
        return self.first == "seq"

    @property
    def needs_next_seq2seq(self) -> bool:
        """Whether the model that is fine-tuned to write later questions must be there."""
        return "seq" in self._at_work[1:]

    @property
    def _at_work(self) -> tuple[str, ...]:
        """Who takes part; questions that are all made at once have nobody to follow them."""
        return (self.first, *(() if self.variant.all_at_once else (self.then,)), self.others)


_ROWS = (
    PursuitPreset(
        "seq+llm",
        "Fine-tuned first question, then a language model",
        "The paper's system, with labels that may say that the evidence is not enough.",
    ),
    PursuitPreset("paper", "As published: two classes", "The paper's system as it was submitted.", labels=LabelSet.TWO),
    PursuitPreset(
        "llm+llm",
        "A language model asks every question",
        "The language model asks the first question too.",
        first="llm",
    ),
    PursuitPreset(
        "seq+seq",
        "Fine-tuned models ask every question",
        "A second fine-tuned model asks the later questions; it never decides, so five pairs are asked for.",
        then="seq",
    ),
    PursuitPreset(
        "all-at-once",
        "All questions at once",
        "The language model writes at most five questions in one list; no question follows from an answer.",
        first="llm",
        variant=Variant(all_at_once=True),
    ),
    PursuitPreset(
        "four-class",
        "Four labels",
        "The verdict may also be not enough evidence, or conflicting evidence.",
        labels=LabelSet.FOUR,
    ),
    PursuitPreset(
        "no-late-verdict",
        "No late verdict",
        "A decided next step is the verdict; the reasoner is asked only when no step decided.",
        variant=Variant(late_verdict=False),
    ),
    PursuitPreset(
        "no-long-doc",
        "Snippets only",
        "Answers come from the search engine's snippet; no page is read.",
        long_document=False,
    ),
    PursuitPreset(
        "multi-doc",
        "Several documents at once",
        "Answers come from several documents together, none is chosen.",
        multi_document=True,
    ),
    PursuitPreset(
        "no-metadata", "Documents without metadata", "Title, site and date of a document are not shown.", metadata=False
    ),
    PursuitPreset(
        "no-paraphrase",
        "No other wordings",
        "The pairs stay as many as there are when the questioner stops.",
        variant=Variant(padding="none"),
    ),
    PursuitPreset(
        "repeat",
        "Pairs repeated",
        "Missing pairs are made up by the same pairs once more, with no fresh answer.",
        variant=Variant(padding="repeat"),
    ),
    PursuitPreset(
        "inflate-to-ten",
        "Evidence repeated up to ten pairs",
        "After the other wordings the pairs are repeated up to ten, in which the verdict takes no part.",
        variant=Variant(inflate_to=10),
    ),
    PursuitPreset(
        "local",
        "Local models",
        "Every part is one that installs with Hopcheck: no key, no language model, no network but the search.",
        first="local",
        then="local",
        others="local",
    ),
)

PURSUIT_PRESETS = {row.name: row for row in _ROWS}
"""By name, in the order in which people see them."""


def default_labels(strategy: str, preset: str) -> LabelSet:
    """The labels of a run when nobody chooses: three, but for presets of a pursuit that have others."""
    row = PURSUIT_PRESETS.get(preset) if strategy == "evidence-pursuit" else None
    return row.labels if row else LabelSet.THREE
