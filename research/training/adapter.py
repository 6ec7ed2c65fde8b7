"""A LoRA layer for training on a CPU (Hu et al., 2021, arXiv 2106.09685).

peft computes the adapter of a bfloat16 base in float32; on a CPU, casting the activations back and forth costs as much
as the products themselves. Here everything but the stored adapter is bfloat16. The weights are saved under peft's
names, so peft loads them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class LoraLinear(nn.Module):
    """y = W x + b + scale B A x, with W, b frozen in bfloat16 and A [rank, in], B [out, rank] trained in float32."""

    def __init__(self, base: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.weight, self.bias, self.scale = base.weight, base.bias, scale
        self.a = nn.Parameter(torch.empty(rank, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [..., in] to [..., out], in the dtype of `x`."""
        inner = nn.functional.linear(x, self.a.to(x.dtype) * self.scale)
        return nn.functional.linear(x, self.weight, self.bias) + nn.functional.linear(inner, self.b.to(x.dtype))


def add_adapter(model: nn.Module, rank: int, first_layer: int) -> None:
    """Freeze `model` (a LlamaModel) and put a LoRA layer around each linear layer from `first_layer` upwards."""
    model.requires_grad_(False)
    for number, layer in enumerate(model.layers):
        if number < first_layer:
            continue
        for parent in (layer.self_attn, layer.mlp):
            for name in TARGETS:
                if hasattr(parent, name):
                    setattr(parent, name, LoraLinear(getattr(parent, name), rank, 2.0))


def adapter_layers(model: nn.Module) -> Iterator[tuple[str, LoraLinear]]:
    """Yield each LoRA layer of a LlamaModel with its dotted name."""
    for name, module in model.named_modules():
        if isinstance(module, LoraLinear):
            yield name, module


def save_adapter(model: nn.Module, base: Path, folder: Path, task: str, head: torch.Tensor | None = None) -> None:
    """Write adapter_model.safetensors (float16) and adapter_config.json for peft. `head`: [classes, hidden]."""
    weights, layers, rank = {}, set(), 0
    for name, layer in adapter_layers(model):
        stem = f"base_model.model.model.{name}"
        weights[f"{stem}.lora_A.weight"], weights[f"{stem}.lora_B.weight"] = layer.a.data.half(), layer.b.data.half()
        layers.add(int(name.split(".")[1]))
        rank = layer.a.shape[0]
    if head is not None:
        weights["base_model.model.score.weight"] = head.detach().half()
    config = {
        "peft_type": "LORA",
        "task_type": task,
        "r": rank,
        "lora_alpha": 2 * rank,
        "target_modules": sorted(TARGETS),
        "layers_to_transform": sorted(layers),
        "modules_to_save": ["score"] if head is not None else None,
        "base_model_name_or_path": str(base),
        "inference_mode": True,
    }
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: weight.contiguous() for name, weight in weights.items()}, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def load_adapter(model: nn.Module, folder: Path) -> torch.Tensor | None:
    """Load saved weights into the LoRA layers of a LlamaModel; return the head if there is one.

    Raises ValueError for an adapter with other layers, RuntimeError for one with another rank, OSError without a file.
    """
    weights = load_file(folder / "adapter_model.safetensors")
    head = weights.pop("base_model.model.score.weight", None)
    layers = {f"base_model.model.model.{name}": layer for name, layer in adapter_layers(model)}
    if weights.keys() != {f"{stem}.lora_{side}.weight" for stem in layers for side in "AB"}:
        raise ValueError("it has other layers")
    for stem, layer in layers.items():
        layer.a.data.copy_(weights[f"{stem}.lora_A.weight"])
        layer.b.data.copy_(weights[f"{stem}.lora_B.weight"])
    return head
