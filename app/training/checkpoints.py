"""Checkpoints that every training run here shares: written whole or not at all, read back on the next start."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import torch
from torch import nn

log = logging.getLogger(__name__)


def save_checkpoint(path: Path, model: nn.Module, parts: dict[str, Any], progress: dict[str, float]) -> None:
    """Keep the weights that are trained, each part's state (optimiser, schedule), and how far the run has come."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {
        "weights": {name: weight for name, weight in model.named_parameters() if weight.requires_grad},
        "parts": {name: part.state_dict() for name, part in parts.items()},
        "progress": progress,
    }
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(path)


def resume(path: Path, model: nn.Module, parts: dict[str, Any]) -> dict[str, float]:
    """Put a checkpoint back and return its progress; an empty one when there is no checkpoint."""
    if not path.is_file():
        return {}
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["weights"], strict=False)
    for name, part in parts.items():
        part.load_state_dict(state["parts"][name])
    log.info("going on from %s", state["progress"])
    return state["progress"]
