"""Load models once, from the hub's cache or a folder, with a version name that identifies the weights.

Only an explicit command downloads models, never a run. Only safetensors weights are read, and a model's own code is
never run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from app.backends.local.inference_queue import Inference, LazyModel
from app.domain.errors import ModelUnavailable

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
        return f"There is no folder {name}." if is_path(name) else f"{name} is not on this machine yet."
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
    """A GGUF file on the hub."""

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


@contextmanager
def hub_errors(name: str) -> Iterator[None]:
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
        raise ModelUnavailable(
            f"{name} could not be fetched: the hub cannot be reached from here or does not have it",
            "the network, or a folder with the model's files in place of the name",
        ) from error


T = TypeVar("T")


class HubModel(Generic[T]):
    """A model given by hub name or folder, loaded once, when it is first used. It runs in the inference queue."""

    FIX: ClassVar[str]
    """How to make the model available where it is missing."""

    def __init__(self, name_or_path: str, inference: Inference | None = None, threads: int = 1, fix: str = "") -> None:
        """`inference` is the process's queue; without it the model creates its own. `threads` limits PyTorch."""
        self.name = shown_name(name_or_path)
        self._name_or_path = name_or_path
        self._inference = inference or Inference()
        load = partial(self._load, name_or_path, threads, fix or self.FIX)
        self._loaded = LazyModel(self._inference, load, self.name)

    def load(self) -> T:
        """Return the model, which is loaded now unless it was loaded before.

        Raises ModelUnavailable, and CallFailed when loading takes too long.
        """
        return self._loaded()

    def _load(self, name_or_path: str, threads: int, fix: str) -> T:
        raise NotImplementedError


FINGERPRINT_BYTES = 1 << 20
"""Bytes read at each end of a file: enough to distinguish weights without reading gigabytes."""


def fingerprint(*paths: Path) -> str:
    """Return 12 hexadecimal digits that identify files by name, size and both ends. Raises OSError."""
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(FINGERPRINT_BYTES))
            file.seek(max(FINGERPRINT_BYTES, size - FINGERPRINT_BYTES))  # no byte is read twice
            digest.update(file.read())
    return digest.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A transformers tokenizer and model, and a name that identifies the weights."""

    tokenizer: Any
    model: Any
    version: str


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model that a module requires."""

    auto_class: str  # in transformers
    description: str  # for error messages
    num_labels: int | None = None  # outputs of the head; set only for a kind to which training may add a new head


SEQ2SEQ = ModelKind("AutoModelForSeq2SeqLM", "a sequence-to-sequence model like FLAN-T5")
EXTRACTIVE_QA = ModelKind(
    "AutoModelForQuestionAnswering", "an extractive question answering model like RoBERTa on SQuAD", 2
)
CAUSAL = ModelKind("AutoModelForCausalLM", "a causal language model")


MAX_STATED_TOKENS = 1_000_000
"""Larger limits mean none: a tokenizer without a limit reports 10^30."""


def token_limit(tokenizer: Any) -> int | None:
    """Return the largest number of tokens that the tokenizer states for its model; None if it states none."""
    limit = int(tokenizer.model_max_length)
    return limit if limit < MAX_STATED_TOKENS else None


def shown_name(name_or_path: str) -> str:
    """Return the model's name for display: its hub name or its folder's name."""
    return Path(name_or_path).expanduser().name if is_path(name_or_path) else name_or_path


def load(name_or_path: str, kind: ModelKind, threads: int, fix: str, untrained: str | None = None) -> Pretrained:
    """Load the model in evaluation mode and float32, on at most `threads` cores.

    Weights whose names begin with `untrained` may be missing, as they are about to be trained. Raises ModelUnavailable
    when the model is not on this machine, not of this kind, incomplete or damaged.
    """
    folder, name = require_model_folder(name_or_path, fix), shown_name(name_or_path)
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(threads)
    try:
        config = check_kind(folder, name, kind, fix)
        if untrained and kind.num_labels:
            config.num_labels = kind.num_labels  # the base may have been trained with another head
        auto_class = getattr(transformers, kind.auto_class)
        model, info = auto_class.from_pretrained(folder, config=config, output_loading_info=True, **_SAFE_OPTIONS)
        missing = [key for key in sorted(info["missing_keys"]) if not (untrained and key.startswith(untrained))]
        if missing:
            raise ModelUnavailable(f"{name} is not {kind.description}: its weights lack {missing[0]}", fix)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, split_special_tokens=True
        )
        _read_special_tokens_as_text(tokenizer, name, fix)
        version = fingerprint(folder / "config.json", *sorted(folder.glob("*.safetensors")))
    except ModelUnavailable:
        raise
    except Exception as error:  # json, safetensors and tokenizers raise many types for damaged files
        raise ModelUnavailable(f"{name} is damaged or incomplete ({type(error).__name__})", fix) from error
    return Pretrained(tokenizer, model.float().eval(), f"{name} {version}")


_SAFE_OPTIONS = {"use_safetensors": True, "trust_remote_code": False, "local_files_only": True}


def _read_special_tokens_as_text(tokenizer: Any, name: str, fix: str) -> None:
    """Make the tokenizer read a special token's name, such as "</s>" in a passage, as ordinary text.

    This keeps passages from injecting control tokens. `split_special_tokens` does it for most tokenizers, but not for
    SentencePiece, whose vocabulary contains the names: there a normalizer inserts a space into each name. Raises
    ModelUnavailable for a slow tokenizer that recognises names, since it has no normalizer.
    """
    from tokenizers import normalizers

    names = [each for each in tokenizer.all_special_tokens if each != tokenizer.unk_token and len(each) > 1]
    recognised = [
        each
        for each in names
        if tokenizer.convert_tokens_to_ids(each) in tokenizer(each, add_special_tokens=False)["input_ids"]
    ]
    if not recognised:
        return
    if not tokenizer.is_fast:
        problem = f"{name} has a slow tokenizer, which reads {recognised[0]} in a text as a control token"
        raise ModelUnavailable(problem, fix)
    backend = tokenizer.backend_tokenizer
    first = [backend.normalizer] if backend.normalizer else []
    split_names = [normalizers.Replace(each, f"{each[0]} {each[1:]}") for each in recognised]
    backend.normalizer = normalizers.Sequence([*first, *split_names])


def check_kind(folder: Path, name: str, kind: ModelKind, fix: str) -> Any:
    """Return the configuration of the model in `folder`. Raises ModelUnavailable for a model of another kind."""
    import transformers

    config = _config(folder, name, fix)
    known_configs = getattr(transformers, kind.auto_class)._model_mapping  # transformers has no public list of them
    if type(config) not in known_configs:
        raise ModelUnavailable(f"{name} is a model of the type {config.model_type}, not {kind.description}", fix)
    return config


def _config(folder: Path, name: str, fix: str) -> Any:
    """Read the model's configuration. Raises ModelUnavailable for a type that needs the model's own code."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelUnavailable(
            f"{name} has a config.json that cannot be read, or is of a type that needs code of its own", fix
        ) from error
