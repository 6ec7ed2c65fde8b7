"""Convert an adapter of SmolLM2 from peft's files to the GGUF file that llama.cpp loads beside the base.

python -m research.training.export_adapter FOLDER OUT.gguf
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
HEADS = {"attn_q": 9, "attn_k": 3}
"""SmolLM2-135M's attention heads. llama.cpp stores the rows of q and k in another order than Hugging Face."""


def export(folder: Path, out: Path) -> None:
    """Write `out` from adapter_model.safetensors and adapter_config.json in `folder`."""
    config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    weights = load_file(folder / "adapter_model.safetensors")
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(config["lora_alpha"]))
    for name, weight in sorted(weights.items()):
        layer, _, rest = name.removeprefix("base_model.model.model.layers.").partition(".")
        part, _, side = rest.removesuffix(".weight").rpartition(".lora_")
        target = NAMES[part]
        if side == "B" and target in HEADS:
            weight = _permuted(weight, HEADS[target])
        tensor = np.ascontiguousarray(weight.astype(np.float16))
        writer.add_tensor(f"blk.{layer}.{target}.weight.lora_{side.lower()}", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _permuted(weight: np.ndarray, heads: int) -> np.ndarray:
    """Interleave the two halves of each head's rows of [out, rank], as llama.cpp's rotary embedding expects."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    export(options.folder, options.out)
