"""Low-rank adapters of linear layers (LoRA; Hu et al., 2021, arXiv 2106.09685)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

SCALE = 2.0
"""Factor of the product B A: alpha is twice the rank."""


class Lora(nn.Module):
    """y = W x + SCALE B A x: W is frozen in its own type, A [rank, in] and B [out, rank] are trained in float32."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        device = base.weight.device
        self.a = nn.Parameter(torch.empty(rank, base.in_features, device=device))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=device))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    @property
    def weight(self) -> Tensor:
        """The frozen weights, whose type some models look at."""
        return self.base.weight

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., in] to [..., out], in the type of `x`."""
        inner = linear(x, (self.a * SCALE).to(x.dtype))
        return self.base(x) + linear(inner, self.b.to(x.dtype))

    def merged(self) -> nn.Linear:
        """Return the layer with the product added to its weights."""
        with torch.no_grad():
            self.base.weight += (SCALE * self.b @ self.a).to(self.base.weight.dtype)
        return self.base


def add_lora(model: nn.Module, rank: int, first_block: int = 0) -> dict[str, Lora]:
    """Freeze a transformers model, put an adapter around each linear layer but its output's; return them by name.

    Blocks below `first_block` get none, which saves their backward pass.
    """
    model.requires_grad_(False)
    output = model.get_output_embeddings()
    names = [
        name
        for name, part in model.named_modules()
        if isinstance(part, nn.Linear) and part is not output and not _is_below(name, first_block)
    ]
    layers = {name: Lora(model.get_submodule(name), rank) for name in names}
    for name, layer in layers.items():
        model.set_submodule(name, layer)
    return layers


def _is_below(name: str, first_block: int) -> bool:
    """Return whether the layer is in a lower block: "model.layers.7.mlp.up_proj" is in block 7."""
    numbers = [int(part) for part in name.split(".") if part.isdigit()]
    return bool(numbers) and numbers[0] < first_block


def merge_lora(model: nn.Module) -> None:
    """Replace each adapter by the linear layer that computes the same."""
    for name, layer in [(name, part) for name, part in model.named_modules() if isinstance(part, Lora)]:
        model.set_submodule(name, layer.merged().requires_grad_(True))
