"""Train the judge: claim and evidence -> SUPPORTED, REFUTED, NOT_ENOUGH_EVIDENCE.

An adapter on the upper layers of SmolLM2-135M with a three-way head on the last token. NOT_SUPPORTED claims (HoVer,
SQuAD) train "anything but SUPPORTED", the negative log of 1 - p(SUPPORTED). calibration.py measures and calibrates
afterwards.

A row is the evidence of a family followed by its claims. A claim attends to the evidence and to itself only, and its
positions continue those of the evidence, so each claim is read as at inference, where it is alone.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from app.backends.local.judge import CLASSES
from safetensors import SafetensorError
from torch.nn import functional
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from app.domain.errors import InvalidInput
from research.training.adapter import add_adapter, load_adapter, save_adapter
from research.training.adapter_training import AdapterSettings, Task, batches, data_hash, train_adapter, weights_hash
from research.training.calibration import by_source
from research.training.checkpoints import best_device, replacing, resume
from research.training.judge_examples import Example, Family

MAX_TOKENS = 320
TOKENS_AT_ONCE = 1100
"""Maximum number of tokens in one forward pass: more do not fit into a CPU's cache."""
MASKED = -1e9
"""Attention score of tokens that are not attended to."""


def train(
    epochs: Iterable[Sequence[Family]],
    held_out: Sequence[Example],
    base: Path,
    out: Path,
    settings: AdapterSettings,
    start: Path | None = None,
    clock: Callable[[], float] = time.monotonic,
    threads: int = 2,
) -> dict:
    """Train on the families of each epoch, save to `out` and return the content of training.json.

    `start` is the checkpoint or the adapter's folder of an earlier run with the same rank and layers, from whose
    weights training starts. `out` gets the adapter and head as peft's files in float16, training.json, and the files
    of `train_adapter`. `held_out` is measured for the learning curve.
    """
    torch.manual_seed(settings.seed)
    torch.set_num_threads(threads)
    rng = random.Random(settings.seed)
    order = [group for epoch in epochs for group in batches(epoch, _length, _claims, settings.batch_size, rng)]
    model, tokenizer = build(base, settings)
    if start:
        load_start(model, start)
    data = data_hash((family.evidence, family.members) for group in order for family in group)
    name = f"{data} {weights_hash(base)} {start and weights_hash(start)} {asdict(settings) | {'minutes': None}}"
    task = _task(model, tokenizer, order, held_out, name)
    steps, seconds = train_adapter(model, task, settings, out, clock)
    card = {
        "settings": asdict(settings),
        "started_from": start.name if start else None,
        "data_hash": data,
        "examples": sum(_claims(family) for group in order for family in group),
        "trained_on": sum(_claims(family) for group in order[:steps] for family in group),
        "minutes": round(seconds / 60, 1),
        "steps": steps,
    }
    with replacing(out) as fresh:
        save_adapter(model.model, base, fresh, "SEQ_CLS", model.score.weight)
        (fresh / "training.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


def _task(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    order: Sequence[Sequence[Family]],
    held_out: Sequence[Example],
    name: str,
) -> Task[Family]:
    def measure() -> dict:
        return by_source(probabilities(model, tokenizer, held_out), held_out)

    return Task(name, order, lambda group: _backward(model, tokenizer, group), measure)


def _length(family: Family) -> int:
    return len(family.opening) + sum(len(prompt) - len(family.opening) for prompt in family.prompts)


def _claims(family: Family) -> int:
    return len(family.members)


def build(base: Path, settings: AdapterSettings) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return a classifier over `base` in bfloat16, its adapter and head in float32, and a tokenizer as at inference."""
    tokenizer = AutoTokenizer.from_pretrained(
        base, truncation_side="left", padding_side="right", split_special_tokens=True
    )
    model = AutoModelForSequenceClassification.from_pretrained(
        base,
        num_labels=len(CLASSES),
        dtype=torch.float32,
        pad_token_id=tokenizer.pad_token_id,
        attn_implementation="eager",
    ).bfloat16()
    add_adapter(model.model, settings.rank, settings.first_layer)
    model.score.float().requires_grad_(True)
    return model.to(best_device()), tokenizer


def load_start(model: PreTrainedModel, start: Path) -> None:
    """Put the weights of a checkpoint or an adapter's folder into `model`. Raises InvalidInput if they do not fit."""
    if start.is_file():
        resume(start, model, {})
        return
    try:
        head = load_adapter(model.model, start)
        if head is None:
            raise ValueError("it has no head")
        model.score.weight.data.copy_(head)
    except (OSError, SafetensorError, RuntimeError, ValueError) as error:
        raise InvalidInput(f"{start} has no adapter that fits this base, rank and layers: {error}.", "out") from error


@dataclass(frozen=True, slots=True)
class Row:
    """Evidence and claims as tokens."""

    ids: list[int]
    positions: list[int]
    parts: list[int]
    """Number of the claim of each token; 0 for the evidence."""
    last: list[int]
    """Index of each claim's last token."""
    classes: list[int]
    """Index of each claim's label in CLASSES; -1 for NOT_SUPPORTED."""


def encode(family: Family, tokenizer: PreTrainedTokenizerBase) -> Row:
    """Tokenise the evidence once, then the rest of each claim's prompt."""
    ids = tokenizer(family.opening)["input_ids"][:MAX_TOKENS]
    shared, positions, parts, last = len(ids), list(range(len(ids))), [0] * len(ids), []
    for number, prompt in enumerate(family.prompts, 1):
        more = tokenizer(prompt[len(family.opening) :], add_special_tokens=False)["input_ids"]
        ids = ids + more
        positions += range(shared, shared + len(more))
        parts += [number] * len(more)
        last.append(len(ids) - 1)
    classes = [CLASSES.index(one.label) if one.label in CLASSES else -1 for one in family.members]
    return Row(ids, positions, parts, last, classes)


def logits_of(model: PreTrainedModel, rows: Sequence[Row]) -> torch.Tensor:
    """Return the logits [claims, 3] of the rows' claims, in order, in float32."""
    width = max(len(row.ids) for row in rows)

    def padded(values: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
        return torch.tensor([[*one, *[fill] * (width - len(one))] for one in values], device=model.device)

    parts = padded([row.parts for row in rows], -1)
    causal = torch.ones(width, width, dtype=torch.bool, device=model.device).tril()
    seen = causal & ((parts.unsqueeze(1) == 0) | (parts.unsqueeze(1) == parts.unsqueeze(2)))
    mask = torch.zeros(seen.shape, dtype=model.dtype, device=model.device).masked_fill(~seen, MASKED).unsqueeze(1)
    ids, positions = padded([row.ids for row in rows], 0), padded([row.positions for row in rows], 0)
    options = {"attention_mask": mask, "position_ids": positions, "use_cache": False}
    hidden = model.model(input_ids=ids, **options).last_hidden_state
    row_indices, token_indices = zip(
        *((number, last) for number, row in enumerate(rows) for last in row.last), strict=True
    )
    return model.score(hidden[list(row_indices), list(token_indices)].float())


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of logits [n, 3]; the loss of label -1 is -log(1 - p(SUPPORTED))."""
    log_p = functional.log_softmax(logits.float(), dim=-1)
    known = -log_p.gather(1, labels.clamp(min=0).unsqueeze(1)).squeeze(1)
    return torch.where(labels >= 0, known, -torch.logsumexp(log_p[:, 1:], dim=-1)).mean()


def _backward(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, group: Sequence[Family]) -> float:
    total, claims = 0.0, sum(map(_claims, group))
    for rows in _parts([encode(family, tokenizer) for family in group]):
        classes = torch.tensor([one for row in rows for one in row.classes], device=model.device)
        loss = loss_of(logits_of(model, rows), classes) * (len(classes) / claims)
        loss.backward()
        total += loss.item()
    return total


def _parts(rows: Sequence[Row]) -> list[list[Row]]:
    """Split a batch so that no part has more than TOKENS_AT_ONCE tokens, padding included."""
    parts: list[list[Row]] = [[]]
    for row in rows:
        if parts[-1] and (len(parts[-1]) + 1) * max(len(one.ids) for one in [*parts[-1], row]) > TOKENS_AT_ONCE:
            parts.append([])
        parts[-1].append(row)
    return parts


def probabilities(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, examples: Sequence[Example]
) -> list[list[float]]:
    """Return a row of probabilities for each example, in the order of CLASSES."""
    ids = [tokenizer(one.prompt, truncation=True, max_length=MAX_TOKENS)["input_ids"] for one in examples]
    rows = [Row(one, list(range(len(one))), [0] * len(one), [len(one) - 1], [-1]) for one in ids]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
    found: list[list[float]] = []
    for part in _parts([rows[at] for at in order]) if rows else []:
        found += torch.softmax(logits_of(model, part), dim=-1).tolist()
    return [row for _, row in sorted(zip(order, found, strict=True))]
