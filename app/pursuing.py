"""An evidence pursuit put together as its preset has it, from parts that the wiring hands in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.modules.pursuit.local import LocalPursuer
from app.modules.pursuit.local_paraphraser import LocalParaphraser
from app.modules.pursuit.prompted import PromptedParaphraser, PromptedPursuer
from app.modules.pursuit.relay import Relay
from app.modules.pursuit.seq2seq import Seq2SeqPursuer
from app.pursuit_presets import PursuitPreset
from app.reasoning.evidence_pursuit import EvidencePursuit
from app.reasoning.roles import Completer, Pursuer, QuestionAnswerer, Reasoner, TextGenerator


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


def pursuit(
    preset: PursuitPreset, parts: PursuitParts, answerer: QuestionAnswerer, reasoner: Reasoner
) -> EvidencePursuit:
    """The strategy that `preset` describes."""
    paraphraser = PromptedParaphraser(parts.model()) if preset.others == "llm" else LocalParaphraser(parts.completer())
    return EvidencePursuit(_pursuer(preset, parts), paraphraser, answerer, reasoner, preset.variant)


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
