"""Fine-tune an extractive reader from any encoder for which transformers has span heads: BERT, RoBERTa, DeBERTa.

The target of a window without the answer is its first token (SQuAD 2.0; Devlin et al., 2019, section 4.3). The setting
READER takes the written folder. Hopcheck's own reader is trained by reader.py instead.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from app.backends.local.reader_windows import Window, as_batch

from app.backends.local.hub_reader import HubReader, read_files, windows_of
from app.backends.local.loading import Pretrained
from app.domain.errors import InvalidInput
from app.domain.model import Passage, Question
from research.evaluation.answers import exact_match, f1
from research.training.checkpoints import CHECKPOINT, replacing
from research.training.fine_tuning import Batch, Tuning, fine_tune
from research.training.squad import Example, answer_tokens, data_hash

FIX = "another --base: the name of an encoder like roberta-base on the hub, or a folder with one"
HEAD = "qa_outputs"
"""Prefix of the span heads' weights in transformers, which the base may lack."""
TUNING = Tuning(epochs=2, batch_size=16, learning_rate=3e-5)
"""Devlin et al., 2019, section 4.3."""
MAX_MEASURED = 200
"""Maximum number of held-out questions on which the figures in training.json are measured."""

Item = tuple[Window, int, int]
"""A window with the positions of the answer's first and last token; 0, 0 where it does not contain the answer."""


def train(examples: Sequence[Example], base: str, out: Path, tuning: Tuning = TUNING, threads: int = 1) -> dict:
    """Train a reader from `base` (hub name or folder), save it to `out` and return its training.json.

    `out` gets the model as safetensors, its tokenizer and training.json. During training it has a checkpoint, from
    which the same command resumes. Raises ModelUnavailable for a base of another kind, InvalidInput for a checkpoint of
    another run, OSError when something cannot be written.
    """
    seen = [one for one in examples if not one.held_out]
    if not seen:
        raise InvalidInput("The data holds no question for the reader to learn from.", "data")
    torch.manual_seed(tuning.seed)  # loading initialises a missing head at random
    weights = read_files(base, threads, FIX, untrained=HEAD)
    about = {
        "model": "reader",
        "base": weights.version,
        "data_hash": data_hash(examples),
        "questions": len(seen),
        "settings": asdict(tuning),
    }
    trained = fine_tune(weights.model, _batches(seen, weights, tuning), tuning, out / CHECKPOINT, json.dumps(about))
    card = about | asdict(trained)
    with replacing(out) as fresh:
        weights.model.save_pretrained(fresh)
        weights.tokenizer.save_pretrained(fresh)
        card["held_out"] = _measured(HubReader(str(fresh), threads=threads), examples, tuning.seed)
        (fresh / "training.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (out / CHECKPOINT).unlink(missing_ok=True)
    return card


def _batches(seen: Sequence[Example], weights: Pretrained, tuning: Tuning) -> list[Batch]:
    """Return the shuffled batches of all epochs; a batch has windows of similar length, to reduce padding."""
    rng = random.Random(tuning.seed)
    items = [item for example in seen for item in items_of(example, weights)]
    batches = []
    for _ in range(tuning.epochs):
        items.sort(key=lambda item: len(item[0].token_ids) * rng.uniform(0.9, 1.1))
        groups = [items[at : at + tuning.batch_size] for at in range(0, len(items), tuning.batch_size)]
        rng.shuffle(groups)
        batches += [_batch(group, weights) for group in groups]
    return batches


def items_of(example: Example, weights: Pretrained) -> Iterator[Item]:
    """Yield the example's windows, made as in inference, with their target tokens."""
    passage = Passage(example.text, example.title, "SQuAD")
    for window in windows_of(weights.tokenizer, example.question, passage, 0):
        first, last = answer_tokens(window, example.place) or (0, 0)
        yield window, first, last


def _batch(group: Sequence[Item], weights: Pretrained) -> Batch:
    made = as_batch([window for window, _, _ in group], pad=weights.tokenizer.pad_token_id or 0)
    batch = {name: made[name] for name in made if name in weights.tokenizer.model_input_names}
    starts, ends = (torch.tensor([item[column] for item in group]) for column in (1, 2))
    return batch | {"start_positions": starts, "end_positions": ends}


def _measured(reader: HubReader, examples: Sequence[Example], seed: int) -> dict:
    """Read held-out questions in their own passages; return their number, and EM and F1 in percent."""
    held = [one for one in examples if one.held_out]
    drawn = random.Random(seed).sample(held, min(len(held), MAX_MEASURED))
    rows = []
    for one in drawn:
        text = reader.read(Question(one.question), [Passage(one.text, one.title, "SQuAD")]).text
        truth = one.answers if one.place else ()
        rows.append((exact_match(text, truth), f1(text, truth)))
    exact, overlap = (round(100 * sum(row[at] for row in rows) / len(rows), 1) if rows else None for at in (0, 1))
    return {"n": len(rows), "EM": exact, "F1": overlap}
