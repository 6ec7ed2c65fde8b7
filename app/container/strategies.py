"""An evidence pursuit put together as its preset has it, from parts that the container hands in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.backends.local.inference_queue import Inference
from app.backends.local.seq2seq import Seq2Seq
from app.capabilities.options import CORPUS_SEARCH, SEARCHES, Mix
from app.domain.model import RunOptions
from app.domain.ports import Completer, Pursuer, QuestionAnswerer, Reasoner, TextGenerator
from app.modules.answerers import reciter_reader
from app.modules.pursuit.paraphraser import LocalParaphraser
from app.modules.pursuit.questioners import LocalPursuer, PromptedParaphraser, PromptedPursuer, Relay, Seq2SeqPursuer
from app.presets import PursuitPreset
from app.strategies.evidence_pursuit import EvidencePursuit


@dataclass(frozen=True)
class PursuitParts:
    """What a pursuit can be made of, each made when a preset needs it.

    `model` is the run's language model, `first_seq2seq` and `next_seq2seq` the fine-tuned questioners, `completer` the
    small local model, `local` the local questioner.
    """

    model: Callable[[], TextGenerator]
    first_seq2seq: Callable[[], Completer]
    next_seq2seq: Callable[[], Completer]
    completer: Callable[[], Completer]
    local: Callable[[], LocalPursuer]


def fine_tuned(inference: Inference, threads: int, **names: str | None) -> dict[str, Seq2Seq]:
    """The models that are fine-tuned to ask in a pursuit, by the setting that names each; of `names` those not None."""
    return {
        setting: Seq2Seq(name, inference, threads, fix=f"{setting} with the folder of a model")
        for setting, name in names.items()
        if name
    }


def pursuit(
    preset: PursuitPreset,
    parts: PursuitParts,
    answerer: QuestionAnswerer,
    reasoner: Reasoner,
    side_by_side: bool = False,
) -> EvidencePursuit:
    """The strategy that `preset` describes; `side_by_side` says whether it answers questions so."""
    paraphraser = PromptedParaphraser(parts.model()) if preset.others == "llm" else LocalParaphraser(parts.completer())
    pursuer = _pursuer(preset, parts)
    return EvidencePursuit(pursuer, paraphraser, answerer, reasoner, preset.variant, side_by_side)


def _pursuer(preset: PursuitPreset, parts: PursuitParts) -> Pursuer:
    first = _questioner(preset.first, preset, parts)
    if preset.then == preset.first or preset.variant.all_at_once:
        return first
    return Relay(first, _questioner(preset.then, preset, parts))


def _questioner(kind: str, preset: PursuitPreset, parts: PursuitParts) -> Pursuer:
    if kind == "llm":
        return PromptedPursuer(parts.model())
    if kind == "local":
        return parts.local()
    first = parts.first_seq2seq()
    return Seq2SeqPursuer(first, parts.next_seq2seq() if preset.needs_next_seq2seq else first)


# Where a run's calls begin ahead of their turn: where they wait for others, and nothing is computed in vain here.
#
# Local models share this machine's cores (backends/inference.py), so that two calls at once gain little, and one that
# is not needed keeps others waiting. OVERLAP says how far an operator goes; docs/critical-path.md what it is about.

MAX_PREFETCHED_PAGES = 3
"""So many pages are opened while a document is chosen; four are fetched at once in the whole process."""


@dataclass(frozen=True)
class SpeculationPolicy:
    """What OVERLAP means for a run. A `model` of None is one that nobody asks."""

    overlap: str

    def for_modules(self, mix: Mix, model: TextGenerator | None) -> bool:
        """Whether the next question and answer begin early: one of those who are asked meanwhile must be elsewhere."""
        asked = (mix.claim_verifier, mix.question_generator, mix.qa_validator)
        return "prompted" in asked and self._elsewhere(model)

    def for_answers(self, options: RunOptions, model: TextGenerator | None) -> bool:
        """Whether questions are answered side by side: what answers them must be elsewhere."""
        asks_the_model = options.answerer in (reciter_reader.NAME, SEARCHES)
        return self.pages(options) > 0 or (asks_the_model and self._elsewhere(model))

    def pages(self, options: RunOptions) -> int:
        """How many pages are opened while one is chosen; none of a corpus, which is at hand."""
        of_the_web = options.answerer == SEARCHES and options.search != CORPUS_SEARCH
        return MAX_PREFETCHED_PAGES if of_the_web and self.overlap != "off" else 0

    def _elsewhere(self, model: TextGenerator | None) -> bool:
        """Whether others compute the model's calls: on another machine, or a server of this one."""
        if model is None or isinstance(model, Seq2Seq):
            return False
        return self.overlap == "all" or (self.overlap == "remote" and model.destination is not None)
