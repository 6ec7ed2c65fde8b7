"""Train an adapter, or other trainable weights: settings, batches of similar length, and the training loop.

Used by judge.py, question_model.py and selector.py. The loop resumes from its checkpoint and ends after the last batch
or the given minutes, whichever comes first; the learning rate falls to zero by then.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from app.backends.local.loading import fingerprint
from app.domain.errors import CallFailed
from research.training.checkpoints import CHECKPOINT, resume, save_checkpoint

log = logging.getLogger(__name__)

T = TypeVar("T")
ROWS_AT_ONCE = 8
"""Maximum number of rows in one forward pass: more do not fit into a CPU's cache."""
POINTS = 4
"""Number of points of the learning curve, one after each quarter of the run."""


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """Settings of a training run."""

    seed: int = 7
    epochs: int = 1
    minutes: float = 60.0  # time limit of the training
    rank: int = 32  # rank of the adapter's matrices
    first_layer: int = 10  # lowest layer that has an adapter
    learning_rate: float = 3e-4
    warmup_steps: int = 40
    batch_size: int = 16
    checkpoint_every: int = 20


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """The data, loss and measurement of a training run."""

    name: str  # identifies data, base, start and settings: a checkpoint with another name is rejected
    order: Sequence[Sequence[T]]  # the batches of all epochs
    backward: Callable[[Sequence[T]], float]  # adds the gradients of one batch and returns its mean loss
    measure: Callable[[], dict[str, Any]]  # figures on held-out examples, for the learning curve


def data_hash(items: Iterable[object]) -> str:
    """Return a short hash of the items, in order, from their repr."""
    digest = hashlib.sha256()
    for one in items:
        digest.update(repr(one).encode())
    return digest.hexdigest()[:16]


def weights_hash(path: Path) -> str:
    """Return a short hash of a checkpoint, or of the safetensors files in a folder."""
    return fingerprint(*(sorted(path.glob("*.safetensors")) if path.is_dir() else [path]))


def batches(
    items: Sequence[T], length: Callable[[T], int], count: Callable[[T], int], size: int, rng: random.Random
) -> list[list[T]]:
    """Return shuffled batches of items of similar length, which need little padding.

    Each has `size` examples or a few more; `count` returns the number of examples in an item.
    """
    groups: list[list[T]] = [[]]
    for one in sorted(items, key=lambda one: length(one) * rng.uniform(0.85, 1.15)):
        if sum(map(count, groups[-1])) >= size:
            groups.append([])
        groups[-1].append(one)
    rng.shuffle(groups)
    return groups


def train_adapter(
    model: nn.Module, task: Task[T], settings: AdapterSettings, out: Path, clock: Callable[[], float] = time.monotonic
) -> tuple[int, float]:
    """Train `model` in place; return the steps and seconds of the whole run, including those before a resumption.

    `out` gets checkpoint.pt, from which the same run resumes, and curve.jsonl. `clock` measures the seconds against
    `minutes`. Raises InvalidInput for the checkpoint of another run, CallFailed when the loss is not a number, OSError
    when a file cannot be written.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.01)
    progress = resume(out / CHECKPOINT, model, {"optimiser": optimiser}, task.name)
    if not progress:
        (out / "curve.jsonl").unlink(missing_ok=True)
    step, points, losses = int(progress.get("step", 0)), int(progress.get("points", 0)), []
    started = clock() - progress.get("seconds", 0.0)
    model.train()
    for group in task.order[step:]:
        seconds = clock() - started
        share = max(step / len(task.order), seconds / (60 * settings.minutes))
        if share >= 1:
            break
        if int(share * POINTS) > points:
            points = int(share * POINTS)
            _record(model, task, out, step, seconds)
        step += 1
        rate = settings.learning_rate * min(1.0, step / settings.warmup_steps) * (1 - share)
        losses.append(_learn(optimiser, weights, task, group, rate))
        if step % settings.checkpoint_every == 0:
            reached = {"step": step, "seconds": clock() - started, "points": points}
            save_checkpoint(out / CHECKPOINT, model, {"optimiser": optimiser}, reached, task.name)
            recent = losses[-settings.checkpoint_every :]
            mean = sum(recent) / len(recent)
            log.info("step %d of %d, loss %.3f, %.0f s", step, len(task.order), mean, reached["seconds"])
    seconds = clock() - started
    if losses:
        reached = {"step": step, "seconds": seconds, "points": POINTS}
        save_checkpoint(out / CHECKPOINT, model, {"optimiser": optimiser}, reached, task.name)
        _record(model, task, out, step, seconds)
    return step, seconds


def _learn(
    optimiser: torch.optim.Optimizer, weights: Sequence[nn.Parameter], task: Task[T], group: Sequence[T], rate: float
) -> float:
    for parameters in optimiser.param_groups:
        parameters["lr"] = rate
    optimiser.zero_grad()
    loss = task.backward(group)
    if not math.isfinite(loss):
        raise CallFailed("The loss is not a number; a lower learning rate may help.")
    torch.nn.utils.clip_grad_norm_(weights, 1.0)
    optimiser.step()
    return loss


def _record(model: nn.Module, task: Task[T], out: Path, step: int, seconds: float) -> None:
    """Append a point of the learning curve to curve.jsonl."""
    model.eval()
    with torch.inference_mode():
        held_out = task.measure()
    model.train()
    point = {"step": step, "seconds": round(seconds), "held_out": held_out}
    out.mkdir(parents=True, exist_ok=True)
    with (out / "curve.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(point) + "\n")
    log.info("after %d steps: %s", step, json.dumps(held_out))
