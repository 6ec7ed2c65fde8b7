"""What every training run keeps on disk: written whole or not at all, so that a full disk costs nothing that was there.

A checkpoint holds the weights that are trained, the optimiser and how far the run has come; the next start of the same
command goes on from it. Finished weights are written beside the old ones and take their place at the end.
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
"""Its name in the folder that a command writes to."""
_KEPT = "what was saved before is as it was"


def save_checkpoint(
    path: Path, model: nn.Module, parts: dict[str, Any], progress: dict[str, float], run: str = ""
) -> None:
    """Keep the weights that are trained, each part's state (optimiser, schedule), and how far the run has come.

    `run` names the data and the settings; only the same run may go on from here. Raises OSError, and the checkpoint
    from before is still there.
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
    except (OSError, RuntimeError) as error:  # torch tells a failed write as a RuntimeError, without the reason
        partial.unlink(missing_ok=True)
        code = getattr(error, "errno", None) or errno.EIO
        raise OSError(code, f"The checkpoint could not be written (is the disk full?); {_KEPT}", str(path)) from error


def resume(path: Path, model: nn.Module, parts: dict[str, Any], run: str = "") -> dict[str, float]:
    """Put a checkpoint back and return its progress; an empty one when there is no checkpoint.

    Raises InvalidInput when the checkpoint is damaged or was made by another run than `run`.
    """
    if not path.is_file():
        return {}
    fix = "delete it to begin anew, or choose another folder"
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
        theirs, progress = state.get("run", ""), state["progress"]
    except Exception as error:  # whatever the readers of zip files and pickles raise at damage
        raise InvalidInput(f"The checkpoint {path} is damaged; {fix}.", "out") from error
    if run and theirs != run:
        raise InvalidInput(f"The checkpoint {path} is of other data, another base or other settings; {fix}.", "out")
    try:
        model.load_state_dict(state["weights"], strict=False)
        for name, part in parts.items():
            part.load_state_dict(state["parts"][name])
    except (RuntimeError, ValueError, KeyError) as error:
        raise InvalidInput(f"The checkpoint {path} is of another model; {fix}.", "out") from error
    log.info("going on from %s", progress)
    return progress


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A folder to write finished weights to; at the end its files take the place of those in `folder`.

    Whatever goes wrong before that leaves `folder` as it was. Raises OSError when the files cannot be written.
    """
    fresh = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        yield fresh
        folder.mkdir(parents=True, exist_ok=True)
        # Nothing is copied from here on: a full disk has stopped it by now, or does not matter any more.
        for file in sorted(fresh.iterdir()):
            file.replace(folder / file.name)
    except SafetensorError as error:
        raise _unwritten(error, folder) from error
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror or error}; {_KEPT}", str(folder)) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _unwritten(error: SafetensorError, folder: Path) -> OSError:
    """What the writer of safetensors tells only in its message."""
    found = re.search(r"\(os error (\d+)\)", str(error))
    code = int(found[1]) if found else errno.EIO
    return OSError(code, f"{os.strerror(code)}; {_KEPT}", str(folder))


# Where training computes: the one place that chooses.


def best_device() -> torch.device:
    """The first NVIDIA or AMD GPU that PyTorch can use, else Apple's, else the processor."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")
