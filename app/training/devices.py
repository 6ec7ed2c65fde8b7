"""Where training computes: the one place that chooses."""

from __future__ import annotations

import torch


def best_device() -> torch.device:
    """The first NVIDIA or AMD GPU that PyTorch can use, else Apple's, else the processor."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")
