"""Load models once, from the hub's cache or a folder, with a version name that identifies the weights.

Only an explicit command downloads models, never a run. Only safetensors weights are read, and a model's own code is
never run.
"""

from __future__ import annotations

import hashlib
import os
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


def folder_of(name: str) -> Path | None:
    """Return the named folder or the one in the hub's cache; None when there is none."""
    if is_path(name):
        return Path(name).expanduser() if Path(name).expanduser().is_dir() else None
    from huggingface_hub import constants

    if not (Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}").is_dir():
        return None  # before the next import, which loads an HTTP client and would delay the first page
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json")
    return Path(found).parent if isinstance(found, str) else None


def why_missing(name: str) -> str:
    """Return a sentence that says why this model cannot be loaded; "" when its files exist. Uses no network."""
    folder = folder_of(name)
    if folder is None:
        return f"There is no folder {name}." if is_path(name) else f"{name} is not on this machine yet."
    if not (folder / "config.json").is_file():
        return f"{name} has no config.json, so it is no model that can be loaded."
    if not any((folder / weights).is_file() for weights in WEIGHTS):
        return f"{name} has no weights in the safetensors format, the only one that is loaded here."
    return ""


def model_folder(name: str, fix: str) -> Path:
    """Return the folder with the model's files. Raises ModelUnavailable with `why_missing(name)` and `fix`."""
    reason, folder = why_missing(name), folder_of(name)
    if reason or folder is None:
        raise ModelUnavailable(reason.rstrip("."), fix)
    return folder


def fetch(name: str) -> Path:
    """Download the model into the hub's cache, with progress bars, and return its folder.

    Raises ModelUnavailable when the hub cannot be reached, knows no such model, or has it without safetensors.
    """
    if is_path(name):
        return model_folder(name, "a folder that is there")
    from huggingface_hub import snapshot_download

    with _hub_errors(name):
        snapshot_download(name, allow_patterns=list(FETCHED_PATTERNS))
    return model_folder(name, "another model")


def is_path(name: str) -> bool:
    """Return whether the name refers to a folder rather than to a model on the hub ("owner/model")."""
    return name.startswith(("/", ".", "~")) or Path(name).is_dir()


HUB = "hub:"
"""Begins the name of one file on the hub: hub:OWNER/REPOSITORY/FILE."""
_GGUF_NAME = re.compile(r"hub:(?P<repo>[\w-][\w.-]*/[\w-][\w.-]*)/(?P<file>(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.gguf)")
SHA256_DIGITS = 64
"""The hub's tag of a large file is its SHA-256; that of a small one is shorter."""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A GGUF file on the hub."""

    repository: str
    file: str
    bytes: int | None
    licence: str

    def fetch(self, path: Path) -> None:
        """Download the file to `path`. Raises ModelUnavailable."""
        from huggingface_hub import hf_hub_url

        with _hub_errors(self.repository):
            download(hf_hub_url(self.repository, self.file), path)


def download(url: str, path: Path) -> None:
    """Download a file of the hub with a progress bar. What an earlier attempt brought is not downloaded again.

    huggingface_hub's hf_hub_download keeps no part of a file. Raises the errors of huggingface_hub, and
    ModelUnavailable for a file whose SHA-256 is not the one that the hub states.
    """
    from huggingface_hub import get_hf_file_metadata
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    path.parent.mkdir(parents=True, exist_ok=True)
    headers = build_hf_headers()
    stated = get_hf_file_metadata(url, headers=headers)
    part = path.with_name(f".{path.name}.{(stated.etag or '')[:16]}.partial")
    with part.open("ab") as file:
        if (begun := file.tell()) != stated.size:
            http_get(url, file, resume_size=begun, headers=headers, expected_size=stated.size)
    with part.open("rb") as file:
        is_as_stated = hashlib.file_digest(file, "sha256").hexdigest() == stated.etag
    if len(stated.etag or "") == SHA256_DIGITS and not is_as_stated:
        part.unlink()
        raise ModelUnavailable(f"{path.name} arrived damaged", "the same command once more")
    part.rename(path)


def look_up(name: str) -> HubFile:
    """Return size and licence of the file hub:OWNER/REPOSITORY/FILE. Raises ModelUnavailable."""
    match = _GGUF_NAME.fullmatch(name)
    if not match:
        raise ModelUnavailable(f"{name} names no GGUF file on the hub", "a name like hub:OWNER/REPOSITORY/FILE.gguf")
    from huggingface_hub import HfApi

    with _hub_errors(match["repo"]):
        info = HfApi().model_info(match["repo"], files_metadata=True)
    sizes = {each.rfilename: each.size for each in info.siblings or ()}
    if match["file"] not in sizes:
        listed = ", ".join(each for each in sizes if each.endswith(".gguf")) or "no GGUF file"
        raise ModelUnavailable(f"{match['repo']} has no file {match['file']}", f"one that it has: {listed}")
    licence = next(
        (tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:")), "not stated"
    )
    return HubFile(match["repo"], match["file"], sizes[match["file"]], licence)


@contextmanager
def _hub_errors(name: str) -> Iterator[None]:
    """Raise ModelUnavailable for the errors of huggingface_hub."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        yield
    except HFValidationError as error:
        raise ModelUnavailable(
            f"{name} is not a name that the hub can have", "a name like google/flan-t5-base"
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise ModelUnavailable(
            f"{name} could not be fetched: the hub cannot be reached from here or does not have it",
            "the network, or a folder with the model's files in place of the name",
        ) from error


T = TypeVar("T")


class HubModel(Generic[T]):
    """A model by hub name or folder. Loaded at its first call, once; computes in the inference queue."""

    FIX: ClassVar[str]
    """How to make the model available where it is missing."""

    def __init__(self, name_or_path: str, inference: Inference | None = None, threads: int = 1, fix: str = "") -> None:
        """`inference` is the process's queue; without it the model creates its own. `threads` limits PyTorch."""
        self.name = shown_name(name_or_path)
        self._name_or_path = name_or_path
        self._inference = inference or Inference()
        read = partial(self._read, name_or_path, threads, fix or self.FIX)
        self._loaded = LazyModel(self._inference, read, self.name)

    def load(self) -> T:
        """Load the model before the first call and return it. Raises ModelUnavailable."""
        return self._loaded()

    def _read(self, name_or_path: str, threads: int, fix: str) -> T:
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
            if size > FINGERPRINT_BYTES:
                file.seek(-min(FINGERPRINT_BYTES, size - FINGERPRINT_BYTES), os.SEEK_END)
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

    auto: str  # name of the Auto class in transformers
    words: str  # description for error messages
    outputs: int | None = None  # number of the head's outputs, for a head that may be trained anew


SEQ2SEQ = ModelKind("AutoModelForSeq2SeqLM", "a sequence-to-sequence model like FLAN-T5")
EXTRACTIVE_QA = ModelKind(
    "AutoModelForQuestionAnswering", "an extractive question answering model like RoBERTa on SQuAD", 2
)
CAUSAL = ModelKind("AutoModelForCausalLM", "a causal language model like SmolLM2")
PAIR_CLASSIFIER = ModelKind("AutoModelForSequenceClassification", "a classifier of text pairs like RoBERTa on MNLI")


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
    folder, name = model_folder(name_or_path, fix), shown_name(name_or_path)
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(threads)
    try:
        config = check_kind(folder, name, kind, fix)
        if untrained and kind.outputs:
            config.num_labels = kind.outputs  # the base may have been trained with another head
        auto = getattr(transformers, kind.auto)
        model, loading_info = auto.from_pretrained(folder, config=config, output_loading_info=True, **_SAFE_OPTIONS)
        if absent := [
            key for key in sorted(loading_info["missing_keys"]) if not untrained or not key.startswith(untrained)
        ]:
            raise ModelUnavailable(f"{name} is not {kind.words}: its weights lack {absent[0]}", fix)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, split_special_tokens=True
        )
        _read_special_tokens_as_text(tokenizer)
        version = fingerprint(folder / "config.json", *sorted(folder.glob("*.safetensors")))
    except ModelUnavailable:
        raise
    except Exception as error:  # json, safetensors and tokenizers raise many types for damaged files
        raise ModelUnavailable(f"{name} is damaged or incomplete ({type(error).__name__})", fix) from error
    return Pretrained(tokenizer, model.float().eval(), f"{name} {version}")


_SAFE_OPTIONS = {"use_safetensors": True, "trust_remote_code": False, "local_files_only": True}


def _read_special_tokens_as_text(tokenizer: Any) -> None:
    """Make the tokenizer read a special token's name, such as "</s>" in a passage, as ordinary text.

    This keeps passages from injecting control tokens. `split_special_tokens` does it for most tokenizers, but not for
    SentencePiece, whose vocabulary contains the names: there a normalizer inserts a space into each name.
    """
    from tokenizers import normalizers

    names = [each for each in tokenizer.all_special_tokens if each != tokenizer.unk_token and len(each) > 1]
    recognised = [
        name
        for name in names
        if tokenizer.convert_tokens_to_ids(name) in tokenizer(name, add_special_tokens=False)["input_ids"]
    ]
    if recognised and tokenizer.is_fast:
        backend = tokenizer.backend_tokenizer
        first = [backend.normalizer] if backend.normalizer else []
        split_names = [normalizers.Replace(name, f"{name[0]} {name[1:]}") for name in recognised]
        backend.normalizer = normalizers.Sequence([*first, *split_names])


def check_kind(folder: Path, name: str, kind: ModelKind, fix: str) -> Any:
    """Return the configuration of the model in `folder`. Raises ModelUnavailable for a model of another kind."""
    import transformers

    config = _config(folder, name, fix)
    if type(config) not in getattr(transformers, kind.auto)._model_mapping:
        raise ModelUnavailable(f"{name} is a model of the type {config.model_type}, not {kind.words}", fix)
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
