"""Read a Qwen2 language model from the blocks of its GGUF file into PyTorch, and its adapter's names.

`describe` needs the package gguf; the rest needs PyTorch and transformers only, so that it runs on a rented GPU.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from app.domain.errors import InvalidInput

ARCHITECTURE = "qwen2"
BLOCK_BYTES = {"Q8_0": 34, "Q4_K": 144, "Q6_K": 210}
LAYERS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
"""GGUF's name of each layer within a block, and transformers'."""
ENDS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def describe(path: Path) -> dict[str, Any]:
    """Return the file's SHA-256, the model's shape, and where each tensor is in the file.

    Raises InvalidInput when it is no GGUF file of a Qwen2 model.
    """
    from gguf import GGUFReader

    try:
        reader = GGUFReader(path)
        architecture = reader.fields["general.architecture"].contents()
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(f"{path} cannot be read as a GGUF file ({error}).", "base") from error
    if architecture != ARCHITECTURE:
        raise InvalidInput(f"{path} is a model of the type {architecture}; the adapter needs {ARCHITECTURE}.", "base")

    def field(name: str) -> Any:
        return reader.fields[f"{architecture}.{name}"].contents()

    return {
        "sha256": sha256(path),
        "config": {
            "hidden_size": field("embedding_length"),
            "intermediate_size": field("feed_forward_length"),
            "num_hidden_layers": field("block_count"),
            "num_attention_heads": field("attention.head_count"),
            "num_key_value_heads": field("attention.head_count_kv"),
            "rms_norm_eps": field("attention.layer_norm_rms_epsilon"),
            "rope_theta": field("rope.freq_base"),
        },
        "tensors": [
            {
                "name": each.name,
                "type": each.tensor_type.name,
                "shape": [int(size) for size in reversed(each.shape)],
                "start": int(each.data_offset),
                "bytes": int(each.n_bytes),
            }
            for each in reader.tensors
        ],
    }


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_base(path: Path, about: dict[str, Any], device: torch.device, dtype: torch.dtype) -> nn.Module:
    """Return the model that `describe` described, as transformers' Qwen2ForCausalLM.

    Raises InvalidInput when the file is another one.
    """
    from transformers import Qwen2Config, Qwen2ForCausalLM
    from transformers.models.qwen2.modeling_qwen2 import Qwen2RotaryEmbedding

    if sha256(path) != about["sha256"]:
        raise InvalidInput(f"{path} is not the base for which the examples were made.", "base")
    shape = dict(about["config"])
    tensors = {each["name"]: each for each in about["tensors"]}
    config = Qwen2Config(
        vocab_size=tensors["token_embd.weight"]["shape"][0],
        tie_word_embeddings="output.weight" not in tensors,
        use_cache=False,
        rope_parameters={"rope_type": "default", "rope_theta": shape.pop("rope_theta")},
        **shape,
    )
    with torch.device("meta"):  # the weights come from the file
        model = Qwen2ForCausalLM(config)
    raw = np.memmap(path, np.uint8, "r")
    state = {_name(name): _tensor(raw, each, device).to(dtype) for name, each in tensors.items()}
    state.setdefault("lm_head.weight", state["model.embed_tokens.weight"])
    model.load_state_dict(state, assign=True)
    model.model.rotary_emb = Qwen2RotaryEmbedding(config).to(device)  # its frequencies are float32 and no weights
    return model


def _name(gguf_name: str) -> str:
    """Return transformers' name of a tensor."""
    part, _, end = gguf_name.rpartition(".")
    if part in ENDS:
        return f"{ENDS[part]}.{end}"
    _, number, layer = part.split(".")
    return f"model.layers.{number}.{LAYERS[layer]}.{end}"


def adapter_name(layer: str) -> str:
    """Return the name of a linear layer's adapter in a GGUF file, without its ending a or b."""
    _, _, number, part = layer.split(".", 3)
    return f"blk.{number}.{next(ours for ours, theirs in LAYERS.items() if theirs == part)}.weight.lora_"


def _tensor(raw: np.ndarray, about: dict[str, Any], device: torch.device) -> Tensor:
    bytes_ = np.array(raw[about["start"] : about["start"] + about["bytes"]])
    return dequantise(torch.from_numpy(bytes_).to(device), about["type"]).reshape(about["shape"])


def dequantise(raw: Tensor, kind: str) -> Tensor:
    """Return the float32 values of ggml's blocks (uint8). Formats: block_q8_0, _q4_K and _q6_K in ggml-common.h.

    Raises InvalidInput for a kind that is not read here.
    """
    if kind in ("F32", "F16"):
        return raw.view(torch.float32 if kind == "F32" else torch.float16).float()
    if kind not in BLOCK_BYTES:
        raise InvalidInput(f"The base has weights of the kind {kind}, which training does not read.", "base")
    blocks = raw.reshape(-1, BLOCK_BYTES[kind])
    return {"Q8_0": _q8_0, "Q4_K": _q4_k, "Q6_K": _q6_k}[kind](blocks).reshape(-1)


def _q8_0(blocks: Tensor) -> Tensor:
    return _half(blocks[:, :2]) * blocks[:, 2:].contiguous().view(torch.int8).float()


def _q4_k(blocks: Tensor) -> Tensor:
    """Eight groups of 32 values a block, each with a scale and a minimum of six bits."""
    low, middle, high = blocks[:, 4:16].reshape(-1, 3, 4).unbind(1)
    scales = torch.cat([low & 63, (high & 15) | ((low >> 2) & 48)], 1)
    minima = torch.cat([middle & 63, (high >> 4) | ((middle >> 2) & 48)], 1)
    values = _shifted(blocks[:, 16:].reshape(-1, 4, 1, 32), (0, 4)) & 15
    scale, minimum = _half(blocks[:, :2]) * scales, _half(blocks[:, 2:4]) * minima
    return scale.unsqueeze(-1) * values.reshape(-1, 8, 32) - minimum.unsqueeze(-1)


def _q6_k(blocks: Tensor) -> Tensor:
    """Sixteen groups of 16 values a block: four lower bits, two upper bits, a signed scale for each group."""
    lower = _shifted(blocks[:, :128].reshape(-1, 2, 1, 64), (0, 4)) & 15
    upper = _shifted(blocks[:, 128:192].reshape(-1, 2, 1, 32), (0, 2, 4, 6)) & 3
    values = (lower.reshape(-1, 8, 32) | (upper.reshape(-1, 8, 32) << 4)).float() - 32
    scales = _half(blocks[:, 208:]) * blocks[:, 192:208].contiguous().view(torch.int8)
    return scales.unsqueeze(-1) * values.reshape(-1, 16, 16)


def _half(bytes_: Tensor) -> Tensor:
    return bytes_.contiguous().view(torch.float16).float()


def _shifted(bytes_: Tensor, bits: tuple[int, ...]) -> Tensor:
    """Return the bytes [n, m, 1, k] shifted right by each number of bits: [n, m, len(bits), k]."""
    return bytes_ >> torch.tensor(bits, dtype=torch.uint8, device=bytes_.device).reshape(1, 1, -1, 1)
