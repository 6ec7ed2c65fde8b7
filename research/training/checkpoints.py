"""Write checkpoints and trained weights atomically, and choose the device for training.

A checkpoint has the trained weights, the optimiser and the progress of a run; the same command resumes from it.
Finished weights are written to a temporary folder and replace the old ones at the end, so a full disk destroys nothing.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn

from app.domain.errors import InvalidInput

log = logging.getLogger(__name__)

CHECKPOINT = "checkpoint.pt"
"""File name in the output folder of a training run."""
_UNCHANGED = "the files saved before are unchanged"


def save_checkpoint(
    path: Path, model: nn.Module, parts: dict[str, Any], progress: dict[str, float], run: str = ""
) -> None:
    """Save the trained weights, the state of each part (such as the optimiser) and the progress.

    `run` identifies data and settings; only the same run may resume. Raises OSError, with the previous checkpoint
    unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {
        "weights": {name: weight for name, weight in model.named_parameters() if weight.requires_grad},
        "parts": {name: part.state_dict() for name, part in parts.items()},
        "progress": progress,
        "run": run,
    }
    partial = path.with_suffix(".partial")
    try:
        torch.save(state, partial)
        partial.replace(path)
    except (OSError, RuntimeError) as error:  # torch raises RuntimeError for a failed write
        partial.unlink(missing_ok=True)
        code = getattr(error, "errno", None) or errno.EIO
        raise OSError(
            code, f"The checkpoint could not be written (is the disk full?); {_UNCHANGED}", str(path)
        ) from error


def resume(path: Path, model: nn.Module, parts: dict[str, Any], run: str = "") -> dict[str, float]:
    """Load a checkpoint into `model` and `parts` and return its progress, {} when there is no checkpoint.

    Raises InvalidInput when the checkpoint is damaged or belongs to another run than `run`.
    """
    if not path.is_file():
        return {}
    fix = "delete it to begin anew, or choose another folder"
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
        saved_run, progress = state.get("run", ""), state["progress"]
    except Exception as error:  # damaged zip files and pickles raise many types
        raise InvalidInput(f"The checkpoint {path} is damaged; {fix}.", "out") from error
    if run and saved_run != run:
        raise InvalidInput(f"The checkpoint {path} is of other data, another base or other settings; {fix}.", "out")
    try:
        model.load_state_dict(state["weights"], strict=False)
        for name, part in parts.items():
            part.load_state_dict(state["parts"][name])
    except (RuntimeError, ValueError, KeyError) as error:
        raise InvalidInput(f"The checkpoint {path} is of another model; {fix}.", "out") from error
    log.info("resuming from %s", progress)
    return progress


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder within `folder`, whose files replace those beside it at the end of the block.

    The files in `folder` are unchanged when the block fails. Raises OSError when the files cannot be written.
    """
    fresh = folder / ".partial"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        yield fresh
        # Renaming needs no space, so a full disk has failed before this point.
        for file in sorted(fresh.iterdir()):
            file.replace(folder / file.name)
    except SafetensorError as error:
        raise _os_error(error, folder) from error
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror or error}; {_UNCHANGED}", str(folder)) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _os_error(error: SafetensorError, folder: Path) -> OSError:
    """Return the OSError that a safetensors error has in its message."""
    found = re.search(r"\(os error (\d+)\)", str(error))
    code = int(found[1]) if found else errno.EIO
    return OSError(code, f"{os.strerror(code)}; {_UNCHANGED}", str(folder))


def best_device() -> torch.device:
    """Return the first NVIDIA or AMD GPU that PyTorch can use, else Apple's, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")
