"""Presets: which implementation each module of a run has, and the options that go with it; recipes name a few.

Those of evidence pursuit are the rows of Papelo's Table 2 (arXiv 2411.05762), each of which changes one thing of
`paper`, and Hopcheck's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

from app.domain.messages import Words
from app.domain.model import QACHECK, LabelSet, Need, RunOptions
from app.strategies import GUIDED, PURSUIT
from app.strategies.evidence_pursuit import Variant

ROLES = ("claim_verifier", "question_generator", "qa_validator", "reasoner")
"""The modules of the question-guided strategy that a preset chooses; the answerer is an option of its own."""
PROMPTED = "prompted"
"""The preset in which one language model has every module."""
OWN = "own"
"""The preset that the settings define module by module."""


class GuidedPreset(NamedTuple):
    """The implementation of each role: "local", "prompted", "qacheck" or, for the reasoner, "flan-t5"."""

    title: str
    claim_verifier: str
    question_generator: str
    qa_validator: str
    reasoner: str

    @property
    def kinds(self) -> tuple[str, ...]:
        return self[1:]

    @property
    def needs(self) -> tuple[Need, ...]:
        needed: dict[Need, bool] = {
            "local model": "local" in (self.claim_verifier, self.question_generator, self.reasoner),
            "language model": bool({PROMPTED, QACHECK} & {*self.kinds}),
            "flan-t5": self.reasoner == "flan-t5",
        }
        return tuple(need for need, is_needed in needed.items() if is_needed)


GUIDED_PRESETS = {
    "local": GuidedPreset(Words("Local models"), "local", "local", "local", "local"),
    PROMPTED: GuidedPreset(Words("A language model, prompted"), PROMPTED, PROMPTED, PROMPTED, PROMPTED),
    "local+flan-t5": GuidedPreset(Words("Local models, FLAN-T5 as the reasoner"), "local", "local", "local", "flan-t5"),
    "prompted+flan-t5": GuidedPreset(
        Words("A language model, prompted, with FLAN-T5 as the reasoner"), PROMPTED, PROMPTED, PROMPTED, "flan-t5"
    ),
    QACHECK: GuidedPreset(
        Words("A language model, prompted as QACheck prints it, to reproduce its figures"),
        QACHECK,
        QACHECK,
        QACHECK,
        QACHECK,
    ),
}
"""All modules local or all prompted, each also with FLAN-T5 as the reasoner (QACheck, section 3.5), and all with the
prompts that QACheck prints."""

PROMPTED_PURSUIT = "llm+llm"
"""The preset in which one language model has every part."""

Questioner = Literal["seq", "llm", "local"]
"""A fine-tuned sequence-to-sequence model, a prompted language model, or Hopcheck's own local models."""


@dataclass(frozen=True, slots=True)
class PursuitPreset:
    """The modules, settings and default labels of one preset."""

    name: str
    title: str
    changes: str  # the description of the preset, as shown to users
    first: Questioner = "seq"  # asks the first question, or all questions if the variant is `all_at_once`
    then: Questioner = "llm"  # asks the later questions, or decides
    others: Literal["llm", "local"] = "llm"  # paraphrases, chooses documents and gives the late verdict
    variant: Variant = Variant()  # noqa: RUF009 - the default is immutable
    long_document: bool = True  # this and the next two are options of the web-search answerer
    multi_document: bool = False
    metadata: bool = True
    labels: LabelSet = LabelSet.TWO  # when none are chosen
    own_wording: bool = False  # Hopcheck's prompts in place of the paper's
    seq_if_set: bool = False  # without a fine-tuned model, the language model asks the first question

    @property
    def needs(self) -> tuple[Need, ...]:
        later = () if self.variant.all_at_once else (self.then,)
        needed: dict[Need, bool] = {
            "local model": self.others == "local",
            "reranker": self.others == "local",
            "language model": "llm" in (self.first, *later, self.others),
            "question_seq2seq": self.first == "seq",
            "next_question_seq2seq": "seq" in later,
        }
        return tuple(need for need, is_needed in needed.items() if is_needed)

    def resolved(self, has_first_seq2seq: bool) -> PursuitPreset:
        """Return the preset as it runs with, or without, a model fine-tuned to write first questions."""
        return self if has_first_seq2seq or not self.seq_if_set else replace(self, first="llm")

    def modules(self, model: str, local: Mapping[str, str], tuned: tuple[str, str], answerer: str) -> dict[str, str]:
        """Return the implementation of each role of a run.

        `local` maps roles to their local implementation; `tuned` are the models that ask the first and later questions.
        """
        first = {"llm": model, "local": local["question generator"], "seq": tuned[0]}
        then = {"llm": model, "local": local["claim verifier"], "seq": tuned[1]}
        prompted = self.others == "llm"
        return {
            "first question": first[self.first],
            **({} if self.variant.all_at_once else {"next step": then[self.then]}),
            "answerer": answerer,
            **({"paraphraser": model if prompted else first["local"]} if self.variant.padding == "paraphrase" else {}),
            "reasoner": model if prompted else local["reasoner"],
        }


_variation = partial(PursuitPreset, seq_if_set=True)
_ROWS = (
    PursuitPreset(
        "seq+llm",
        Words("Fine-tuned first question, then a language model"),
        Words("The paper's system, with labels that may say that the evidence is not enough."),
        labels=LabelSet.THREE,
        own_wording=True,
    ),
    PursuitPreset("paper", Words("As published: two classes"), Words("The paper's system as it was submitted.")),
    PursuitPreset(
        "papelo",
        Words("As published, but for the first question"),
        Words("The paper's prompts, seed and two classes; the language model asks the first question too."),
        first="llm",
    ),
    PursuitPreset(
        PROMPTED_PURSUIT,
        Words("A language model asks every question"),
        Words("The language model asks the first question too."),
        first="llm",
        labels=LabelSet.THREE,
        own_wording=True,
    ),
    PursuitPreset(
        "seq+seq",
        Words("Fine-tuned models ask every question"),
        Words("A second fine-tuned model asks the later questions; it never decides, so five pairs are asked for."),
        then="seq",
    ),
    PursuitPreset(
        "all-at-once",
        Words("All questions at once"),
        Words("The language model writes at most five questions in one list; no question follows from an answer."),
        first="llm",
        variant=Variant(all_at_once=True),
    ),
    _variation(
        "four-class",
        Words("Four labels"),
        Words("The verdict may also be not enough evidence, or conflicting evidence."),
        labels=LabelSet.FOUR,
    ),
    _variation(
        "no-late-verdict",
        Words("No late verdict"),
        Words("A decided next step is the verdict; the reasoner is asked only when no step decided."),
        variant=Variant(late_verdict=False),
    ),
    _variation(
        "no-long-doc",
        Words("Snippets only"),
        Words("Answers come from the search engine's snippet; no page is read."),
        long_document=False,
    ),
    _variation(
        "multi-doc",
        Words("Several documents at once"),
        Words("Answers come from several documents together, none is chosen."),
        multi_document=True,
    ),
    _variation(
        "no-metadata",
        Words("Documents without metadata"),
        Words("Title, site and date of a document are not shown."),
        metadata=False,
    ),
    _variation(
        "no-paraphrase",
        Words("No other wordings"),
        Words("No pairs are added after the questioner stops."),
        variant=Variant(padding="none"),
    ),
    _variation(
        "repeat",
        Words("Pairs repeated"),
        Words("Missing pairs are filled by repeating the pairs found, without asking again."),
        variant=Variant(padding="repeat"),
    ),
    _variation(
        "inflate-to-ten",
        Words("Evidence repeated up to ten pairs"),
        Words("After the other wordings, the pairs are repeated up to ten; the verdict does not use the repetitions."),
        variant=Variant(inflate_to=10),
    ),
    PursuitPreset(
        "local",
        Words("Local models"),
        Words("Every part is one that installs with Hopcheck: no key, no language model, no network but the search."),
        first="local",
        then="local",
        others="local",
        labels=LabelSet.THREE,
        own_wording=True,
    ),
)

PURSUIT_PRESETS = {row.name: row for row in _ROWS}
"""Presets by name, in display order."""


PAPER_SEED = 42
"""The seed of Papelo's runs."""
PAPER_BEAMS = 5
"""The beams with which the fine-tuned questioners decode in Papelo's released code."""


def defaults_of(strategy: str, preset: str) -> dict[str, Any]:
    """Return the options that a preset sets where none are chosen, by the names of RunOptions' fields."""
    if strategy == GUIDED and preset == QACHECK:
        return {"labels": LabelSet.TWO, "answerer": "reciter-reader"}
    row = PURSUIT_PRESETS.get(preset) if strategy == PURSUIT else None
    if row is None:
        return {}
    return {"labels": row.labels} | ({} if row.own_wording else {"model_seed": PAPER_SEED})


def is_faithful(strategy: str, preset: str) -> bool:
    """Return whether the prompts are those that the papers print.

    These are sent as plain text, and no JSON is requested.
    """
    return preset == QACHECK if strategy != PURSUIT else not PURSUIT_PRESETS[preset].own_wording


class Recipe(NamedTuple):
    """A name for a strategy with a preset, and with the source that it is meant for if that is not the usual one."""

    title: str
    about: str
    strategy: str
    preset: str
    source: str = ""


RECIPES = {
    "local": Recipe(Words("Local models"), Words("The small models that come with Hopcheck."), GUIDED, "local"),
    "language-model": Recipe(
        Words("A language model"), Words("It asks, judges and explains, step by step."), GUIDED, PROMPTED
    ),
    "evidence-pursuit": Recipe(
        Words("Evidence pursuit"),
        Words("A language model reads web pages until it can decide."),
        PURSUIT,
        PROMPTED_PURSUIT,
        "web",
    ),
    QACHECK: Recipe(
        Words("QACheck, as published"),
        Words("The paper’s prompts. Answers come from the model’s memory."),
        GUIDED,
        QACHECK,
    ),
    "papelo": Recipe(
        Words("Papelo, as published"),
        Words("The paper’s prompts, on the web. The model asks everything."),
        PURSUIT,
        "papelo",
        "web",
    ),
}
"""The few methods that people choose by name, in display order."""


def recipe_of(options: RunOptions) -> str:
    """Return the name of the recipe of these options' strategy and preset; "" for none."""
    return next((name for name, each in RECIPES.items() if each[2:4] == (options.strategy, options.preset)), "")
