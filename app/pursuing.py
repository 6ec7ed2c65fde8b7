"""An evidence pursuit put together as its preset has it, from parts that the wiring hands in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.backends.local.inference_queue import Inference
from app.backends.local.seq2seq import Seq2Seq
from app.domain.ports import Completer, Pursuer, QuestionAnswerer, Reasoner, TextGenerator
from app.modules.pursuit.paraphraser import LocalParaphraser
from app.modules.pursuit.questioners import LocalPursuer, PromptedParaphraser, PromptedPursuer, Relay, Seq2SeqPursuer
from app.pursuit_presets import PursuitPreset
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
        setting: Seq2Seq(name, inference, threads, mend=f"{setting} with the folder of a model")
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
