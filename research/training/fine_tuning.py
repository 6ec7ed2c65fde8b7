"""Fine-tune a model on prepared batches, with checkpoints, on CPU or GPU.

AdamW with a learning rate that falls linearly to zero. Every step seeds PyTorch with its own number, so a resumed run
gives the same weights as an uninterrupted one, unless a time limit ends it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from app.domain.errors import CallFailed
from research.training.checkpoints import best_device, resume, save_checkpoint

log = logging.getLogger(__name__)

Batch = dict[str, Tensor]
"""A model's inputs by name, with its targets, so that its output has a loss."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Settings of a training run."""

    seed: int = 7
    epochs: int = 3
    batch_size: int = 4
    learning_rate: float = 5e-5
    rank: int = 0
    """Rank of the adapter to train; 0 trains all weights."""
    first_block: int = 0
    """Blocks below it get no adapter."""
    minutes: float | None = None
    """Time limit; the learning rate is zero by then."""
    warmup_steps: int = 0
    checkpoint_every: int = 50


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training run."""

    steps: int
    minutes: float
    loss: float | None
    """Mean of the last steps; None when the checkpoint already had all steps."""
    device: str


def fine_tune(model: nn.Module, batches: Sequence[Batch], tuning: Tuning, checkpoint: Path, run: str) -> Trained:
    """Train `model` in place, one step per batch, resuming from `checkpoint`; it stays on the chosen device.

    `run` identifies data, base and settings. Raises InvalidInput for a checkpoint of another run, CallFailed when the
    loss is not a number, OSError when a checkpoint cannot be written.
    """
    device = best_device()
    model.to(device).train()
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=tuning.learning_rate)
    progress = resume(checkpoint, model, {"optimiser": optimiser}, run)
    done, started = int(progress.get("step", 0)), time.monotonic() - progress.get("seconds", 0.0)
    losses: list[float] = []
    for step in range(done + 1, len(batches) + 1):
        share = _share_done(step, len(batches), time.monotonic() - started, tuning)
        if share >= 1:
            break
        torch.manual_seed(tuning.seed + step)
        for group in optimiser.param_groups:
            group["lr"] = tuning.learning_rate * min(1.0, step / (tuning.warmup_steps or 1)) * (1 - share)
        losses.append(_learn(model, optimiser, _on_device(batches[step - 1], device), step))
        done = step
        if step % tuning.checkpoint_every == 0 or step == len(batches):
            seconds = time.monotonic() - started
            save_checkpoint(checkpoint, model, {"optimiser": optimiser}, {"step": step, "seconds": seconds}, run)
            log.info("step %d of %d, loss %.3f, %.0f s", step, len(batches), _recent(losses, tuning), seconds)
    model.eval()
    minutes = round((time.monotonic() - started) / 60, 1)
    return Trained(done, minutes, round(_recent(losses, tuning), 4) if losses else None, device.type)


def _share_done(step: int, steps: int, seconds: float, tuning: Tuning) -> float:
    """Return the share of the steps, or of the time if that is larger."""
    by_time = seconds / (60 * tuning.minutes) if tuning.minutes else 0.0
    return max((step - 1) / steps, by_time)


def _recent(losses: Sequence[float], tuning: Tuning) -> float:
    last = losses[-tuning.checkpoint_every :]
    return sum(last) / len(last)


def _learn(model: nn.Module, optimiser: torch.optim.Optimizer, batch: Batch, step: int) -> float:
    loss = model(**batch).loss
    if not torch.isfinite(loss):
        raise CallFailed(f"The loss is not a number at step {step}; a lower learning rate may help.")
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return loss.item()


def _on_device(batch: Batch, device: torch.device) -> Batch:
    return {name: part.to(device) for name, part in batch.items()}


@torch.inference_mode()
def mean_loss(model: nn.Module, batches: Sequence[Batch]) -> float | None:
    """Return the mean loss over held-out batches; None when there are none."""
    device = next(model.parameters()).device
    losses = [model(**_on_device(batch, device)).loss.item() for batch in batches]
    return round(sum(losses) / len(losses), 4) if losses else None
