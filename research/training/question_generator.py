"""Fine-tune the question models of an evidence pursuit: claim and answered questions -> the next question.

Papelo has two (Malon, 2024, arXiv 2411.05762, appendix A), one for the first question and one for the next. Any
sequence-to-sequence model can be the base: targets of 64 tokens, 3 epochs, batches of 4, AdamW at 5e-5.
app/backends/local/seq2seq.py loads the written folder.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from app.backends.local.seq2seq import Pretrained, load
from app.domain.errors import InvalidInput
from research.training.checkpoints import CHECKPOINT, replacing
from research.training.fine_tuning import Batch, Tuning, fine_tune, mean_loss
from research.training.lora import add_lora, merge_lora
from research.training.question_generator_data import Asked, Example, data_hash, first_examples, next_examples

TARGET_TOKENS = 64
FIX = "another --base: the name of a sequence-to-sequence model on the hub, or a folder with one"
NO_LOSS = -100
"""Target for padding, which PyTorch's cross-entropy ignores."""


@dataclass(frozen=True, slots=True)
class Questioner:
    """One of the two models."""

    name: str  # name of its folder
    source_tokens: int  # maximum length of its input
    examples: Callable[[Sequence[Asked]], Iterator[Example]]  # makes its training examples


FIRST = Questioner("first-question", 64, first_examples)
NEXT = Questioner("next-question", 256, next_examples)


def train(
    asked: Sequence[Asked], base: str, out: Path, questioner: Questioner, tuning: Tuning, threads: int = 1
) -> dict:
    """Train `questioner` from `base` (hub name or folder), save it to `out` and return its training.json.

    `out` gets the model as safetensors, its tokenizer and training.json. During training it has a checkpoint, from
    which the same command resumes. Raises ModelUnavailable for a base of another kind, InvalidInput when there are no
    examples or the checkpoint is another run's, OSError when something cannot be written.
    """
    seen, held_out = (list(questioner.examples([a for a in asked if a.held_out is held])) for held in (False, True))
    if not seen:
        raise InvalidInput(f"The data holds nothing for the {questioner.name} model to learn from.", "data")
    weights = load(base, threads, FIX)
    torch.manual_seed(tuning.seed)
    model = weights.model
    if tuning.rank:
        add_lora(model, tuning.rank)
    about = {
        "model": questioner.name,
        "base": weights.version,
        "data_hash": data_hash(asked),
        "examples": len(seen),
        "settings": asdict(tuning) | {"source_tokens": questioner.source_tokens, "target_tokens": TARGET_TOKENS},
    }
    batches = list(_batches(seen, weights, questioner, tuning))
    trained = fine_tune(model, batches, tuning, out / CHECKPOINT, json.dumps(about))
    one_pass = list(_batches(held_out, weights, questioner, Tuning(epochs=1)))
    card = about | asdict(trained) | {"held_out": len(held_out), "held_out_loss": mean_loss(model, one_pass)}
    _save(model, weights, card, out)
    return card


def _batches(
    examples: Sequence[Example], weights: Pretrained, questioner: Questioner, tuning: Tuning
) -> Iterator[Batch]:
    """Yield the batches of all epochs, each shuffled; int64 tensors [examples, longest]."""
    rng = random.Random(tuning.seed)
    order = list(range(len(examples)))
    for _ in range(tuning.epochs):
        rng.shuffle(order)
        for at in range(0, len(order), tuning.batch_size):
            yield _batch([examples[place] for place in order[at : at + tuning.batch_size]], weights, questioner)


def _batch(group: Sequence[Example], weights: Pretrained, questioner: Questioner) -> Batch:
    tokenizer, max_tokens = weights.tokenizer, questioner.source_tokens
    sources = [_fitting(example, tokenizer, max_tokens) for example in group]
    inputs = tokenizer(sources, padding=True, truncation=True, max_length=max_tokens, return_tensors="pt")
    targets = tokenizer(
        text_target=[example.target for example in group],
        padding=True,
        truncation=True,
        max_length=TARGET_TOKENS,
        return_tensors="pt",
    )
    labels = targets["input_ids"].masked_fill(~targets["attention_mask"].bool(), NO_LOSS)
    return {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"], "labels": labels}


def _fitting(example: Example, tokenizer: Any, max_tokens: int) -> str:
    """Return the longest form of the input that fits, else the shortest, which the tokenizer truncates."""
    forms = (example.source, *example.shorter)
    return next((form for form in forms if len(tokenizer(form)["input_ids"]) <= max_tokens), forms[-1])


def _save(model: nn.Module, weights: Pretrained, card: dict, out: Path) -> None:
    """Write all files or none, then delete the checkpoint."""
    merge_lora(model)
    with replacing(out) as fresh:
        model.save_pretrained(fresh)
        weights.tokenizer.save_pretrained(fresh)
        (fresh / "training.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (out / CHECKPOINT).unlink(missing_ok=True)
