"""A Llama in int8, near enough to its float32 that most labels are the same (docs/judge.md, "How fast").

PyTorch's dynamic int8 gives a layer's whole input one scale, and the few values that are hundreds of times as large as
the rest leave those no digits. Three things help, and none changes what is computed but for rounding:

- The features are turned (QuaRot, Ashkboos et al., 2024, section 4.1): every matrix that reads or writes them is turned
  with them, which spreads a large feature over all. So are each head's values.
- Each token has a scale of its own (ZeroQuant, Yao et al., 2022, section 4.1). The large values are a few tokens'.
- Weights use less than the eight bits. Without VNNI a processor adds two products in 16 bits, where they may not fit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module, RMSNorm
from torch.nn.functional import silu
from transformers import LlamaForSequenceClassification
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP, apply_rotary_pos_emb

from app.backends.packed_batch import attend

TOP = 90
"""The largest weight of a row becomes this. At 63 two products always fit into 16 bits, but the weights are coarser; at
127 they often do not. Without VNNI, 90 came nearest to float32 (docs/judge.md)."""

LEAST = 1e-9
"""A row of zeros is divided by this."""


def in_int8(model: LlamaForSequenceClassification) -> LlamaForSequenceClassification:
    """A copy of `model` for packed batches, its layers' matrices in int8; embedding, attention and head in float32.

    Raises RuntimeError where PyTorch was built without oneDNN.
    """
    quick = copy.deepcopy(model)
    turn_features(quick)
    size, least = model.config.hidden_size, model.config.rms_norm_eps
    for layer in quick.model.layers:
        layer.self_attn, layer.mlp = Int8Attention(layer.self_attn), Int8Mlp(layer.mlp)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            setattr(layer, norm, RMSNorm(size, least, elementwise_affine=False))
    return quick


class Int8Linear(Module):
    """`inputs @ weight.T` with a scale for each row of `weight` [out, in] and for each token of the inputs."""

    def __init__(self, *weights: Tensor) -> None:
        """Several weights are one below the other."""
        super().__init__()
        weight = torch.cat([each.detach() for each in weights])
        self._scales = weight.abs().amax(dim=1).clamp(min=LEAST) / TOP
        self._zeros = torch.zeros(len(weight), dtype=torch.int32)
        whole = (weight / self._scales[:, None]).round().to(torch.int8)
        self._packed = torch.ops.onednn.qlinear_prepack(whole, None)

    def forward(self, inputs: Tensor) -> Tensor:
        """[..., in] -> [..., out]. What is not a number in a token makes all of that token's outputs so."""
        largest = inputs.abs().amax(dim=-1, keepdim=True).clamp_(min=LEAST)
        whole = inputs.mul(127 / largest).add_(128.5).to(torch.uint8)  # cut off, so rounded; 128 is zero
        outputs: Tensor = torch.ops.onednn.qlinear_pointwise(
            whole, 1 / 127, 128, self._packed, self._scales, self._zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return outputs.mul_(largest)


class Int8Attention(Module):
    """LlamaAttention over packed texts, with query, key and value from one matrix."""

    is_causal = True

    def __init__(self, attention: LlamaAttention) -> None:
        super().__init__()
        parts = (attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight)
        self._sizes, self._head = [len(part) for part in parts], attention.head_dim
        self._parts, self._out = Int8Linear(*parts), Int8Linear(attention.o_proj.weight)

    def forward(self, hidden_states: Tensor, position_embeddings: tuple[Tensor, Tensor], **packed: Any) -> Any:
        """As a layer of transformers calls it, with `lengths` from `packed_batch.packed`."""
        parts = self._parts(hidden_states).split(self._sizes, dim=-1)
        query, key, value = (part.unflatten(-1, (-1, self._head)).transpose(1, 2) for part in parts)
        query, key = apply_rotary_pos_emb(query, key, *position_embeddings)
        attended, _ = attend(self, query, key, value, None, lengths=packed["lengths"])
        return self._out(attended.flatten(start_dim=-2)), None


class Int8Mlp(Module):
    """LlamaMLP with its first two matrices in one."""

    def __init__(self, mlp: LlamaMLP) -> None:
        super().__init__()
        self._gate_and_up = Int8Linear(mlp.gate_proj.weight, mlp.up_proj.weight)
        self._down = Int8Linear(mlp.down_proj.weight)

    def forward(self, inputs: Tensor) -> Tensor:
        """[..., features] -> [..., features]."""
        gate, up = self._gate_and_up(inputs).chunk(2, dim=-1)
        outputs: Tensor = self._down(silu(gate).mul_(up))
        return outputs


def turn_features(model: LlamaForSequenceClassification) -> None:
    """Turn the features between the layers and the heads' values, in place; the logits stay, but for rounding.

    A turn passes through a norm only where the norm has no weights of its own: they go into the matrices that follow.
    """
    turned, turned_head = _turn(model.config.hidden_size), _turn(model.config.head_dim)

    def read(norm: Module, *matrices: Module) -> None:
        for matrix in matrices:
            matrix.weight.copy_(turned(matrix.weight * norm.weight))
        norm.weight.fill_(1.0)

    def write(turn: Callable[[Tensor], Tensor], matrix: Module) -> None:
        matrix.weight.copy_(turn(matrix.weight.T.contiguous()).T)

    with torch.no_grad():
        body = model.model
        body.embed_tokens.weight.copy_(turned(body.embed_tokens.weight))
        for layer in body.layers:
            attention, mlp = layer.self_attn, layer.mlp
            read(layer.input_layernorm, attention.q_proj, attention.k_proj, attention.v_proj)
            read(layer.post_attention_layernorm, mlp.gate_proj, mlp.up_proj)
            write(turned, attention.o_proj)
            write(turned, mlp.down_proj)
            write(turned_head, attention.v_proj)
            attention.o_proj.weight.copy_(turned_head(attention.o_proj.weight))
        read(body.norm, model.score)


def _turn(size: int) -> Callable[[Tensor], Tensor]:
    """What turns every `size` numbers of a tensor by one orthogonal matrix: the product of any and a Hadamard one."""
    power = size & -size  # the largest power of two that divides it
    hadamard = torch.ones(1, 1)
    while len(hadamard) < power:
        hadamard = torch.kron(hadamard, torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
    hadamard /= power**0.5
    generator = torch.Generator().manual_seed(0)
    orthogonal, _ = torch.linalg.qr(torch.randn(size // power, size // power, generator=generator))

    def turned(numbers: Tensor) -> Tensor:
        apart = numbers.reshape(-1, size // power, power)
        return (orthogonal.T @ (apart @ hadamard)).reshape(numbers.shape)

    return turned
