"""Models by hub name or folder: whether one is on this machine, where, and fetching it when its owner says so.

A run never downloads: gigabytes that start to move because somebody pressed "Check" would look like a hang. Weights
are read from safetensors files only, and no code that comes with a model is run.
"""

from __future__ import annotations

from pathlib import Path

from app.domain.errors import ModelUnavailable

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
FETCHED = ("*.json", "*.safetensors", "*.model", "*.txt")
"""Configuration, weights and tokenizers; pickled weights of the same model stay where they are."""


def folder_of(name: str) -> Path | None:
    """The folder with the model's files: the one that is named, or the hub's cache; None when neither is there."""
    if is_path(name):
        return Path(name).expanduser() if Path(name).expanduser().is_dir() else None
    from huggingface_hub import constants

    if not (Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}").is_dir():
        return None  # what looks closer brings an HTTP client with it, for which the first page would wait
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json")
    return Path(found).parent if isinstance(found, str) else None


def why_missing(name: str) -> str:
    """Why this model cannot be loaded here, in a sentence; "" when its files are there. Asks no network."""
    folder = folder_of(name)
    if folder is None:
        return f"There is no folder {name}." if is_path(name) else f"{name} is not on this machine yet."
    if not (folder / "config.json").is_file():
        return f"{name} has no config.json, so it is no model that can be loaded."
    if not any((folder / weights).is_file() for weights in WEIGHTS):
        return f"{name} has no weights in the safetensors format, the only one that is loaded here."
    return ""


def located(name: str, mend: str) -> Path:
    """The folder with the model's files. Raises ModelUnavailable with why_missing's sentence and `mend`."""
    reason, folder = why_missing(name), folder_of(name)
    if reason or folder is None:
        raise ModelUnavailable(reason.rstrip("."), mend)
    return folder


def fetch(name: str) -> Path:
    """Download the model into the hub's cache, with the hub's own progress bars, and say where it lies.

    Raises ModelUnavailable when the hub cannot be reached, knows no such model, or has it without safetensors.
    """
    if is_path(name):
        return located(name, "a folder that is there")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        snapshot_download(name, allow_patterns=list(FETCHED))
    except HFValidationError as error:
        raise ModelUnavailable(
            f"{name} is not a name that the hub can have", "a name like google/flan-t5-base"
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise ModelUnavailable(
            f"{name} could not be fetched: the hub cannot be reached from here or does not have it",
            "the network, or a folder with the model's files in place of the name",
        ) from error
    return located(name, "another model")


def is_path(name: str) -> bool:
    """Whether this names a folder rather than a model of the hub ("owner/model")."""
    return name.startswith(("/", ".", "~")) or Path(name).is_dir()
