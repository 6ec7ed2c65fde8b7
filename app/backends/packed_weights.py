"""Weights as int8 with one scale a row, for models that ship inside the repository: a quarter of float32's size.

Rounding errs by at most half a step of 1/127 of the row's largest weight; what that costs is in the model's card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SCALE = ".scale"


def pack(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Every matrix [rows, columns] as int8 with its float32 scales [rows] beside it; vectors as they are."""
    import torch

    packed = {}
    for name, weight in weights.items():
        if weight.ndim != 2:
            packed[name] = weight.float().contiguous()
            continue
        scale = weight.float().abs().amax(dim=1).clamp(min=1e-8) / 127
        packed[name] = torch.round(weight.float() / scale[:, None]).to(torch.int8)
        packed[name + SCALE] = scale
    return packed


def unpack(packed: dict[str, Tensor]) -> dict[str, Tensor]:
    """The float32 weights that `pack` was given, rounded. Raises KeyError when a matrix has lost its scales."""
    import torch

    return {
        name: weight.float() * packed[name + SCALE][:, None] if weight.dtype == torch.int8 else weight
        for name, weight in packed.items()
        if not name.endswith(SCALE)
    }
