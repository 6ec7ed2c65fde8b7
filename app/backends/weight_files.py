"""Whether a file of weights is whole: the lengths that its header tells are there. Nothing is loaded.

The bytes of the weights are not looked at: for files whose bytes are known, see checksums.py.
"""

from __future__ import annotations

from pathlib import Path

from app.domain.errors import ModelUnavailable


def demand_safetensors(path: Path, mend: str) -> Path:
    """`path`, a safetensors file with at least one tensor that is not cut off. Raises ModelUnavailable otherwise."""
    from safetensors import SafetensorError, safe_open

    _demand_file(path, mend)
    try:
        with safe_open(path, "numpy") as weights:
            if weights.keys():
                return path
    except (SafetensorError, OSError) as error:
        raise ModelUnavailable(f"The file {path} is damaged or cut off", mend) from error
    raise ModelUnavailable(f"The file {path} holds no weights", mend)


def demand_gguf(path: Path, mend: str) -> Path:
    """`path`, a GGUF file that is not cut off. Raises ModelUnavailable otherwise."""
    from gguf import GGUFReader

    _demand_file(path, mend)
    try:
        if GGUFReader(path).tensors:
            return path
    except Exception as error:  # cut in the middle of a header, numpy raises whatever it stumbles over
        raise ModelUnavailable(f"The file {path} is no GGUF file, or cut off", mend) from error
    raise ModelUnavailable(f"The file {path} holds no weights", mend)


def _demand_file(path: Path, mend: str) -> None:
    if not path.is_file():
        raise ModelUnavailable(f"The file {path} is missing", mend)
