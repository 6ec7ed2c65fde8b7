"""Training uses the best device that PyTorch can use on this machine."""

from __future__ import annotations

import pytest
import torch

from research.training.checkpoints import best_device

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("nvidia", "apple", "chosen"),
    [(True, False, "cuda"), (True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_a_gpu_is_used_when_pytorch_supports_it(monkeypatch, nvidia: bool, apple: bool, chosen: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: nvidia)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: apple)
    assert best_device().type == chosen
