"""A Llama in int8 that is nearer to its float32 than plain dynamic int8 is; judge_speed.py measures how near.

PyTorch's dynamic int8 gives a layer's whole input one scale, and a few features that are twenty times as large as the
rest leave those no digits. Turning the features (QuaRot, Ashkboos et al., 2024, section 4.1) spreads the large ones
over all; every matrix that reads or writes the features is turned with them, so that nothing else changes. `down_proj`
reads what no turn reaches, with features up to 300 times as large, and stays in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import LlamaForSequenceClassification

IN_INT8 = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
)


def in_int8(model: LlamaForSequenceClassification) -> LlamaForSequenceClassification:
    """`model` with its matrices but `down_proj` in int8, one scale a row. `model` itself is used up."""
    import torch
    from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

    turn_features(model)
    if "onednn" in torch.backends.quantized.supported_engines:
        torch.backends.quantized.engine = "onednn"  # a tenth faster than the default where AVX2 is all there is
    layers = range(model.config.num_hidden_layers)
    wanted = {f"model.layers.{layer}.{part}": per_channel_dynamic_qconfig for layer in layers for part in IN_INT8}
    return quantize_dynamic(model, wanted, inplace=True)


def turn_features(model: LlamaForSequenceClassification) -> None:
    """Turn the features between the layers, in place; the logits stay what they were, but for rounding.

    A turn passes through a norm only where the norm has no weights of its own: they go into the matrices that follow.
    """
    import torch

    small, large = _turns(model.config.hidden_size)

    def turned(rows: Tensor) -> Tensor:
        """Rows of features [rows, features], each turned by the Kronecker product of the two."""
        return (small.T @ (rows.view(len(rows), len(small), len(large)) @ large)).reshape(rows.shape)

    def read(norm: Module, *matrices: Module) -> None:
        for matrix in matrices:
            matrix.weight.copy_(turned(matrix.weight * norm.weight))
        norm.weight.fill_(1.0)

    with torch.no_grad():
        body = model.model
        body.embed_tokens.weight.copy_(turned(body.embed_tokens.weight))
        for layer in body.layers:
            attention, mlp = layer.self_attn, layer.mlp
            read(layer.input_layernorm, attention.q_proj, attention.k_proj, attention.v_proj)
            read(layer.post_attention_layernorm, mlp.gate_proj, mlp.up_proj)
            for writes in (attention.o_proj, mlp.down_proj):
                writes.weight.copy_(turned(writes.weight.T.contiguous()).T)
        read(body.norm, model.score)


def _turns(features: int) -> tuple[Tensor, Tensor]:
    """Two orthogonal matrices whose sizes multiply to `features`: any one, and the largest Hadamard matrix."""
    import torch

    size = features & -features  # the largest power of two that divides it
    hadamard = torch.ones(1, 1)
    while len(hadamard) < size:
        hadamard = torch.kron(hadamard, torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
    generator = torch.Generator().manual_seed(0)
    orthogonal, _ = torch.linalg.qr(torch.randn(features // size, features // size, generator=generator))
    return orthogonal.contiguous(), hadamard / size**0.5
