"""Models and files of the Hugging Face hub: what is on this machine, and downloads of the rest.

Only an explicit command downloads models, never a run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import ModelUnavailable
from app.domain.messages import Words

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
FETCHED_PATTERNS = ("*.json", "*.safetensors", "*.model", "*.txt")
"""Configuration, weights and tokenizers; pickled weights are not downloaded."""


def find_model_folder(name: str) -> Path | None:
    """Return the folder `name`, or that of the hub's model `name` in the local cache; None when it does not exist."""
    if is_path(name):
        return Path(name).expanduser() if Path(name).expanduser().is_dir() else None
    from huggingface_hub import constants

    if not (Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}").is_dir():
        return None  # before the next import, which loads an HTTP client and delays the first page
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json")
    return Path(found).parent if isinstance(found, str) else None


def why_missing(name: str) -> str:
    """Return a sentence that says why this model cannot be loaded; "" when its files exist. Uses no network."""
    folder = find_model_folder(name)
    if folder is None:
        return (
            f"There is no folder {name}." if is_path(name) else Words("{name} is not on this machine yet.", name=name)
        )
    if not (folder / "config.json").is_file():
        return f"{name} has no config.json, so it cannot be loaded."
    if not any((folder / weights).is_file() for weights in WEIGHTS):
        return f"{name} has no weights in the safetensors format, the only format that Hopcheck loads."
    return ""


def require_model_folder(name: str, fix: str) -> Path:
    """Return the folder with the model's files. Raises ModelUnavailable with `why_missing(name)` and `fix`."""
    reason, folder = why_missing(name), find_model_folder(name)
    if reason or folder is None:
        raise ModelUnavailable(reason.rstrip("."), fix)
    return folder


def fetch(name: str) -> Path:
    """Download the model into the hub's local cache, with progress bars, and return its folder.

    Raises ModelUnavailable when the hub cannot be reached or does not have the model with safetensors weights, and
    OSError when the files cannot be written.
    """
    if is_path(name):
        return require_model_folder(name, "the path of an existing folder")
    from huggingface_hub import snapshot_download

    with hub_errors(name):
        snapshot_download(name, allow_patterns=list(FETCHED_PATTERNS))
    return require_model_folder(name, "a model with safetensors weights")


def is_path(name: str) -> bool:
    """Return whether the name refers to a folder rather than to a model on the hub ("owner/model")."""
    return name.startswith(("/", ".", "~")) or Path(name).is_dir()


HUB_PREFIX = "hub:"
"""Prefix of the name of one file on the hub: hub:OWNER/REPOSITORY/FILE."""
_GGUF_NAME = re.compile(r"hub:(?P<repository>[\w-][\w.-]*/[\w-][\w.-]*)/(?P<file>(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.gguf)")
SHA256_DIGITS = 64
"""Length of the ETag of a large file on the hub, which is its SHA-256; a small file's ETag is shorter."""


@dataclass(frozen=True, slots=True)
class HubFile:
    repository: str
    file: str
    bytes: int | None
    licence: str

    def fetch(self, path: Path) -> None:
        """Download the file to `path`. Raises ModelUnavailable, and OSError when it cannot be written."""
        from huggingface_hub import hf_hub_url

        with hub_errors(self.repository):
            download(hf_hub_url(self.repository, self.file), path)


def download(url: str, path: Path) -> None:
    """Download a file from the hub with a progress bar, continuing an interrupted download.

    hf_hub_download of huggingface_hub cannot continue one. Raises ModelUnavailable for a file whose SHA-256 is not the
    one that the hub states, OSError, and the errors of huggingface_hub and httpx2.
    """
    from huggingface_hub import get_hf_file_metadata
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    path.parent.mkdir(parents=True, exist_ok=True)
    headers = build_hf_headers()
    stated = get_hf_file_metadata(url, headers=headers)
    etag = stated.etag or ""
    part = path.with_name(f".{path.name}.{etag[:16]}.partial")
    with part.open("ab") as file:
        downloaded = file.tell()
        if downloaded != stated.size:
            http_get(url, file, resume_size=downloaded, headers=headers, expected_size=stated.size)
    with part.open("rb") as file:
        if len(etag) == SHA256_DIGITS and hashlib.file_digest(file, "sha256").hexdigest() != etag:
            part.unlink()
            raise ModelUnavailable(f"{path.name} was damaged during the download", "running the same command again")
    part.rename(path)


def split_file_name(name: str) -> tuple[str, str]:
    """Return repository and file of hub:OWNER/REPOSITORY/FILE. Raises ModelUnavailable for another name."""
    match = _GGUF_NAME.fullmatch(name)
    if not match:
        raise ModelUnavailable(f"{name} names no GGUF file on the hub", "a name like hub:OWNER/REPOSITORY/FILE.gguf")
    return match["repository"], match["file"]


def look_up(repository: str, file: str) -> HubFile:
    """Return size and licence of a file on the hub. Raises ModelUnavailable."""
    from huggingface_hub import HfApi

    with hub_errors(repository):
        info = HfApi().model_info(repository, files_metadata=True)
    sizes = {each.rfilename: each.size for each in info.siblings or ()}
    if file not in sizes:
        listed = ", ".join(each for each in sizes if each.endswith(".gguf")) or "no GGUF file"
        raise ModelUnavailable(f"{repository} has no file {file}", f"one that it has: {listed}")
    licences = (tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:"))
    return HubFile(repository, file, sizes[file], next(licences, "not stated"))


MODEL_FIX = "the network, or a folder with the model's files in place of the name"


@contextmanager
def hub_errors(name: str, fix: str = MODEL_FIX) -> Iterator[None]:
    """Raise ModelUnavailable for errors of the hub and of the network; errors of the disk remain OSError."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import HFValidationError

    try:
        yield
    except HFValidationError as error:
        raise ModelUnavailable(f"{name} is not a valid name on the hub", "a name like google/flan-t5-base") from error
    except (HTTPError, OSError) as error:
        if isinstance(error, OSError) and error.errno:  # of the operating system: huggingface_hub's own have no errno
            raise
        problem = f"{name} could not be fetched: the hub cannot be reached from here or does not have it"
        raise ModelUnavailable(problem, fix) from error


def shown_name(name_or_path: str) -> str:
    """Return the model's name for display: its hub name or its folder's name."""
    return Path(name_or_path).expanduser().name if is_path(name_or_path) else name_or_path
