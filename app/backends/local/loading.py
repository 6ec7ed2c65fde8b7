"""Load models once: from the hub's cache or a folder, with a name that identifies the very weights."""

from __future__ import annotations

import hashlib
import importlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.backends.local.inference_queue import Inference
from app.domain.errors import ModelUnavailable
from app.domain.progress import entered

# Models by hub name or folder: whether one is on this machine, where, and fetching it when its owner says so.
#
# A run never downloads: gigabytes that start to move because somebody pressed "Check" would look like a hang. Weights
# are read from safetensors files only, and no code that comes with a model is run.

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
FETCHED_PATTERNS = ("*.json", "*.safetensors", "*.model", "*.txt")
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


def model_folder(name: str, fix: str) -> Path:
    """The folder with the model's files. Raises ModelUnavailable with why_missing's sentence and `fix`."""
    reason, folder = why_missing(name), folder_of(name)
    if reason or folder is None:
        raise ModelUnavailable(reason.rstrip("."), fix)
    return folder


def fetch(name: str) -> Path:
    """Download the model into the hub's cache, with the hub's own progress bars, and say where it lies.

    Raises ModelUnavailable when the hub cannot be reached, knows no such model, or has it without safetensors.
    """
    if is_path(name):
        return model_folder(name, "a folder that is there")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        snapshot_download(name, allow_patterns=list(FETCHED_PATTERNS))
    except HFValidationError as error:
        raise ModelUnavailable(
            f"{name} is not a name that the hub can have", "a name like google/flan-t5-base"
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise ModelUnavailable(
            f"{name} could not be fetched: the hub cannot be reached from here or does not have it",
            "the network, or a folder with the model's files in place of the name",
        ) from error
    return model_folder(name, "another model")


def is_path(name: str) -> bool:
    """Whether this names a folder rather than a model of the hub ("owner/model")."""
    return name.startswith(("/", ".", "~")) or Path(name).is_dir()


# A model that is loaded when it is first asked for, once, in the inference queue.

T = TypeVar("T")

FIX = "make install"

_importing = threading.Lock()
"""One thread imports at a time: two that want transformers at once may get it half made."""


class LazyModel(Generic[T]):
    """A model that is loaded at its first use, once, in the queue. A load that failed is tried anew at the next use."""

    def __init__(
        self, inference: Inference, read: Callable[[], T], name: str = "", libraries: Sequence[str] = ()
    ) -> None:
        """`read` gives the model, never None; it raises ModelUnavailable. A model with a `name` is said to load.

        `libraries` are modules that `read` will import: the caller imports them before the model's turn comes, so
        that the queue computes meanwhile.
        """
        self._inference, self._read, self._name, self._libraries = inference, read, name, libraries
        self._model: T | None = None

    def __call__(self) -> T:
        """The model. Raises what `read` raises, and ModelUnavailable when a library is missing."""
        if self._model is not None:
            return self._model
        if self._name:
            entered(f"loading {self._name}")
        for library in self._libraries:
            _import(library)
        return self._inference.load(self._once)

    def _once(self) -> T:
        if self._model is None:
            self._model = self._read()
        return self._model


def _import(library: str) -> None:
    with _importing:
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise ModelUnavailable(f"The library {library} cannot be imported ({error})", FIX) from error


# Which weights a model has, in a few digits: part of the name under which its replies are remembered.

FINGERPRINT_BYTES = 1 << 20
"""Bytes that are looked at on each end of a file. Other weights differ there, and gigabytes need not be read."""


def fingerprint(*paths: Path) -> str:
    """12 hexadecimal digits from the names, the sizes and both ends of some files. Raises OSError."""
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
    """A tokenizer and a model as transformers made them, and the name of these very weights."""

    tokenizer: Any
    model: Any
    version: str


@dataclass(frozen=True, slots=True)
class ModelKind:
    """What a model must be: the name of transformers' Auto class, what that is in words, and its head's outputs."""

    auto: str
    words: str
    outputs: int | None = None


SEQ2SEQ = ModelKind("AutoModelForSeq2SeqLM", "a sequence-to-sequence model like FLAN-T5")
EXTRACTIVE_QA = ModelKind(
    "AutoModelForQuestionAnswering", "an extractive question answering model like RoBERTa on SQuAD", 2
)
CAUSAL = ModelKind("AutoModelForCausalLM", "a causal language model like SmolLM2")
PAIR_CLASSIFIER = ModelKind("AutoModelForSequenceClassification", "a classifier of text pairs like RoBERTa on MNLI")


def shown_name(name_or_path: str) -> str:
    """How people know the model: its hub name, or the last part of its folder's path."""
    return Path(name_or_path).expanduser().name if is_path(name_or_path) else name_or_path


def load(name_or_path: str, kind: ModelKind, threads: int, fix: str, untrained: str | None = None) -> Pretrained:
    """The model, in evaluation mode and float32, on at most `threads` cores.

    `untrained` is the beginning of the names of weights that the file may lack because they are about to be trained.
    Raises ModelUnavailable when it is not on this machine, not of this kind, incomplete or damaged.
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
            config.num_labels = kind.outputs  # a base may have been trained for something else before
        auto = getattr(transformers, kind.auto)
        model, told = auto.from_pretrained(folder, config=config, output_loading_info=True, **_SAFELY)
        if absent := [key for key in sorted(told["missing_keys"]) if not untrained or not key.startswith(untrained)]:
            raise ModelUnavailable(f"{name} is not {kind.words}: its weights lack {absent[0]}", fix)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, split_special_tokens=True
        )
        _read_special_tokens_as_text(tokenizer)
        version = fingerprint(folder / "config.json", *sorted(folder.glob("*.safetensors")))
    except ModelUnavailable:
        raise
    except Exception as error:  # damaged files raise whatever the readers of json, safetensors and tokenizers raise
        raise ModelUnavailable(f"{name} is damaged or incomplete ({type(error).__name__})", fix) from error
    return Pretrained(tokenizer, model.float().eval(), f"{name} {version}")


_SAFELY = {"use_safetensors": True, "trust_remote_code": False, "local_files_only": True}


def _read_special_tokens_as_text(tokenizer: Any) -> None:
    """A special token's name in a text is text: no passage may end itself.

    `split_special_tokens` does that where they are no words of the model's own; SentencePiece has them among its
    pieces, so they are broken up before it sees them.
    """
    from tokenizers import normalizers

    names = [each for each in tokenizer.all_special_tokens if each != tokenizer.unk_token and len(each) > 1]
    known = [
        name
        for name in names
        if tokenizer.convert_tokens_to_ids(name) in tokenizer(name, add_special_tokens=False)["input_ids"]
    ]
    if known and tokenizer.is_fast:
        backend = tokenizer.backend_tokenizer
        first = [backend.normalizer] if backend.normalizer else []
        broken = [normalizers.Replace(name, f"{name[0]} {name[1:]}") for name in known]
        backend.normalizer = normalizers.Sequence([*first, *broken])


def check_kind(folder: Path, name: str, kind: ModelKind, fix: str) -> Any:
    """The configuration of the model in `folder`; ModelUnavailable when no model of its type can be of this kind."""
    import transformers

    config = _config(folder, name, fix)
    if type(config) not in getattr(transformers, kind.auto)._model_mapping:
        raise ModelUnavailable(f"{name} is a model of the type {config.model_type}, not {kind.words}", fix)
    return config


def _config(folder: Path, name: str, fix: str) -> Any:
    """The model's configuration; a type that transformers does not know would need code of the model's own."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelUnavailable(
            f"{name} has a config.json that cannot be read, or is of a type that needs code of its own", fix
        ) from error
