"""Train the judge: claim and evidence -> SUPPORTED, REFUTED, NOT_ENOUGH_EVIDENCE.

An adapter on the upper layers of SmolLM2-135M with a three-way head on the last token. NOT_SUPPORTED claims (HoVer,
SQuAD) train "anything but SUPPORTED", the negative log of 1 - p(SUPPORTED). calibration.py measures and calibrates
afterwards.

A row is the evidence of a family followed by its claims. A claim attends to the evidence and to itself only, and its
positions go on from the evidence, so each is read as at inference, where it stands alone.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch.nn import functional
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from app.backends.local.judge import CLASSES
from app.domain.errors import InvalidInput
from research.training.adapter import add_adapter, load_adapter, save_adapter
from research.training.adapter_training import AdapterSettings, Task, batches, train_adapter
from research.training.calibration import by_source
from research.training.checkpoints import best_device, replacing, resume
from research.training.judge_examples import Example, Family

MAX_TOKENS = 320
TOKENS_AT_ONCE = 1100
"""Tokens in one forward pass: more of them do not fit into a CPU's cache."""
UNSEEN = -1e9


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
    """Train on the families of each epoch and save to `out`; return what training.json says.

    `start` is the checkpoint of an earlier run, or a folder with its adapter, whose weights are the first ones here;
    rank and layers must be the same. `out` gets the adapter and head as peft's files in float16, training.json, and
    what train_adapter writes. `held_out` is measured for the learning curve.
    """
    torch.manual_seed(settings.seed)
    torch.set_num_threads(threads)
    rng = random.Random(settings.seed)
    order = [group for epoch in epochs for group in batches(epoch, _length, _claims, settings.batch_size, rng)]
    model, tokenizer = build(base, settings)
    if start:
        start_from(model, start)
    data = data_hash(order)
    task = _task(model, tokenizer, order, held_out, f"{data} {asdict(settings) | {'minutes': None}}")
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
        save_adapter(model.model, fresh, "SEQ_CLS", model.score.weight)
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


def data_hash(order: Sequence[Sequence[Family]]) -> str:
    """Return a short hash of the families, in order."""
    digest = hashlib.sha256()
    for group in order:
        for family in group:
            digest.update(repr((family.evidence, family.members)).encode())
    return digest.hexdigest()[:16]


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


def start_from(model: PreTrainedModel, start: Path) -> None:
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
    """Token ids, the position of each, the claim it belongs to (0: the evidence), each claim's last token and class."""

    ids: list[int]
    positions: list[int]
    parts: list[int]
    last: list[int]
    classes: list[int]


def encode(family: Family, tokenizer: PreTrainedTokenizerBase) -> Row:
    """Tokenise the evidence once, then what each claim adds. A class of -1 is NOT_SUPPORTED."""
    ids = tokenizer(family.opening, add_special_tokens=False)["input_ids"][:MAX_TOKENS]
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
    mask = torch.zeros(seen.shape, dtype=model.dtype, device=model.device).masked_fill(~seen, UNSEEN).unsqueeze(1)
    ids, positions = padded([row.ids for row in rows], 0), padded([row.positions for row in rows], 0)
    options = {"attention_mask": mask, "position_ids": positions, "use_cache": False}
    hidden = model.model(input_ids=ids, **options).last_hidden_state
    row_of, place = zip(*((number, last) for number, row in enumerate(rows) for last in row.last), strict=True)
    return model.score(hidden[list(row_of), list(place)].float())


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy; rows labelled -1 (NOT_SUPPORTED) count -log(1 - p(SUPPORTED)). logits [n, 3], labels [n]."""
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
    """Rows of probabilities in the order of CLASSES, computed a few examples of similar length at a time."""
    ids = [tokenizer(one.prompt, truncation=True, max_length=MAX_TOKENS)["input_ids"] for one in examples]
    rows = [Row(one, list(range(len(one))), [0] * len(one), [len(one) - 1], [-1]) for one in ids]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
    found: list[list[float]] = []
    for part in _parts([rows[at] for at in order]) if rows else []:
        found += torch.softmax(logits_of(model, part), dim=-1).tolist()
    return [row for _, row in sorted(zip(order, found, strict=True))]
