"""Fine-tune the judge: claim and evidence -> SUPPORTED, REFUTED, NOT_ENOUGH_EVIDENCE.

A rank-16 adapter on the upper layers of SmolLM2-135M with a three-way head on the last token. NOT_SUPPORTED pairs
(HoVer) train "anything but SUPPORTED", the negative log of 1 - p(SUPPORTED). Seeded; resumes from its checkpoint; the
clock can end it, with the learning rate falling to zero by then.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, TaskType, get_peft_model
from torch.nn import functional
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from app.text.evidence import judge_prompt, select_sentences
from research.training.checkpoints import best_device, replacing, resume, save_checkpoint
from research.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, REFUTED, SUPPORTED, Pair, data_hash

log = logging.getLogger(__name__)

CLASSES = (SUPPORTED, REFUTED, NOT_ENOUGH)
ROWS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """What a training run is made of; stored whole in the model card. `minutes` is the most it may take."""

    seed: int = 7
    epochs: int = 1
    minutes: float = 60.0
    rank: int = 16
    first_layer: int = 10
    learning_rate: float = 4e-4
    warmup_steps: int = 20
    batch_size: int = 16
    checkpoint_every: int = 20


def train(
    pairs: Sequence[Pair],
    base: Path,
    out: Path,
    settings: TrainingSettings,
    start: Path | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> dict:
    """Train on the pairs that are not held out and save to `out`; returns what the model card says of the training.

    `start` is the checkpoint of an earlier run whose weights are the first ones here (rank and layers must be the
    same). `out` gets peft's files (adapter_config.json, adapter_model.safetensors in float16), training.json and, on
    the way, the checkpoint from which the same command goes on. calibration.py measures and calibrates afterwards.
    `clock` gives the seconds that `minutes` is held to.
    """
    torch.manual_seed(settings.seed)
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = _fresh_model(base, settings, tokenizer.pad_token_id).to(best_device())
    if start:
        resume(start, model, {})
    seen = [pair for pair in pairs if not pair.held_out]
    run = f"{data_hash(pairs)} {asdict(settings) | {'minutes': None}}"
    steps, seconds = _run(model, list(_batches(seen, tokenizer, settings)), settings, out / "checkpoint.pt", clock, run)
    card = {
        "settings": asdict(settings),
        "started_from": start.name if start else None,
        "data_hash": data_hash(pairs),
        "pairs": len(seen),
        "trained_on": steps * settings.batch_size,
        "minutes": round(seconds / 60, 1),
        "steps": steps,
    }
    save(model, out, card)
    return card


def _run(
    model: PeftModel,
    order: Sequence[tuple],
    settings: TrainingSettings,
    checkpoint: Path,
    clock: Callable[[], float],
    run: str,
) -> tuple[int, float]:
    """One step for each batch that the checkpoint does not count as done; how many steps there were, and the seconds.

    The learning rate rises over the warm-up and falls to zero with the batches or the minutes, whichever end first.
    Raises InvalidInput for the checkpoint of another `run`.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=settings.learning_rate)
    progress = resume(checkpoint, model, {"optimiser": optimiser}, run)
    step, started, losses = int(progress.get("step", 0)), clock() - progress.get("seconds", 0.0), []
    model.train()
    for inputs, labels in order[step:]:
        share = max(step / len(order), (clock() - started) / (60 * settings.minutes))
        if share >= 1:
            break
        step += 1
        for group in optimiser.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, step / settings.warmup_steps) * (1 - share)
        optimiser.zero_grad()
        losses.append(_backward(model, inputs, labels))
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        if step % settings.checkpoint_every == 0:
            recent, seconds = losses[-settings.checkpoint_every :], clock() - started
            save_checkpoint(checkpoint, model, {"optimiser": optimiser}, {"step": step, "seconds": seconds}, run)
            log.info("step %d of %d, loss %.3f, %.0f s", step, len(order), sum(recent) / len(recent), seconds)
    return step, clock() - started


def save(model: PeftModel, out: Path, card: dict) -> None:
    """The adapter and head in float16, and what made them: all of it, or the weights from before stay."""
    with replacing(out) as fresh:
        model.half().save_pretrained(fresh)
        (fresh / "README.md").unlink(missing_ok=True)  # peft's; ours is written by hand
        (fresh / "training.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    model.float()


def _fresh_model(base: Path, settings: TrainingSettings, pad: int) -> PeftModel:
    model = AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=len(CLASSES), dtype=torch.float32, pad_token_id=pad
    )
    model.config.id2label = dict(enumerate(CLASSES))
    adapter = LoraConfig(
        task_type=TaskType.SEQ_CLS,
        r=settings.rank,
        lora_alpha=2 * settings.rank,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        layers_to_transform=list(range(settings.first_layer, model.config.num_hidden_layers)),
        modules_to_save=["score"],
    )
    return get_peft_model(model, adapter)


def _batches(pairs: Sequence[Pair], tokenizer: Any, settings: TrainingSettings) -> Iterator[tuple[dict, torch.Tensor]]:
    """Shuffled batches of texts of similar length: little padding, and still another order each epoch."""
    rng = random.Random(settings.seed)
    texts = [prompt(pair) for pair in pairs]
    lengths = [len(text) for text in texts]
    for _ in range(settings.epochs):
        order = sorted(range(len(pairs)), key=lambda at: lengths[at] * rng.uniform(0.85, 1.15))
        groups = [order[at : at + settings.batch_size] for at in range(0, len(order), settings.batch_size)]
        rng.shuffle(groups)
        for group in groups:
            inputs = tokenizer([texts[at] for at in group], padding=True, return_tensors="pt")
            yield (
                {k: inputs[k] for k in ("input_ids", "attention_mask")},
                torch.tensor([_class_of(pairs[at].label) for at in group]),
            )


def prompt(pair: Pair) -> str:
    """The judge's input for a pair, made as at inference."""
    return judge_prompt(pair.claim, select_sentences(pair.claim, pair.passages))


def _class_of(label: str) -> int:
    return -1 if label == NOT_SUPPORTED else CLASSES.index(label)


def _loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy; rows labelled -1 (NOT_SUPPORTED) count -log(1 - p(SUPPORTED)). logits [n, 3], labels [n]."""
    log_p = functional.log_softmax(logits, dim=-1)
    known = -log_p.gather(1, labels.clamp(min=0).unsqueeze(1)).squeeze(1)
    merged = -torch.logsumexp(log_p[:, 1:], dim=-1)
    return torch.where(labels >= 0, known, merged).mean()


def _backward(model: PeftModel, inputs: dict, labels: torch.Tensor) -> float:
    """Add the gradients of one batch, a few rows at a time so that activations stay in the cache; its mean loss."""
    total = 0.0
    for start in range(0, len(labels), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        part = {name: tensor[rows].to(model.device) for name, tensor in inputs.items()}
        loss = _loss(model(**part).logits, labels[rows].to(model.device)) * (len(labels[rows]) / len(labels))
        loss.backward()
        total += loss.item()
    return total
