"""A model and its tokenizer from a folder or the hub's cache, refused in plain words when it is not of the kind wanted.

Weights are read from safetensors only, no code that comes with a model is run, nothing is downloaded (hub.py), and a
model whose file lacks a part is refused: transformers would fill the gap with random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.backends.fingerprint import fingerprint
from app.backends.hub import is_path, located
from app.domain.errors import ModelUnavailable


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A tokenizer and a model as transformers made them, and the name of these very weights."""

    tokenizer: Any
    model: Any
    version: str


@dataclass(frozen=True, slots=True)
class Kind:
    """What a model must be: the name of transformers' Auto class, what that is in words, and its head's outputs."""

    auto: str
    words: str
    outputs: int | None = None


SEQ2SEQ = Kind("AutoModelForSeq2SeqLM", "a sequence-to-sequence model like FLAN-T5")
EXTRACTIVE_QA = Kind("AutoModelForQuestionAnswering", "an extractive question answering model like RoBERTa on SQuAD", 2)
CAUSAL = Kind("AutoModelForCausalLM", "a causal language model like SmolLM2")
PAIR_CLASSIFIER = Kind("AutoModelForSequenceClassification", "a classifier of text pairs like RoBERTa on MNLI")


def shown_name(name_or_path: str) -> str:
    """How people know the model: its hub name, or the last part of its folder's path."""
    return Path(name_or_path).expanduser().name if is_path(name_or_path) else name_or_path


def load(name_or_path: str, kind: Kind, threads: int, mend: str, untrained: str | None = None) -> Pretrained:
    """The model, in evaluation mode and float32, on at most `threads` cores.

    `untrained` is the beginning of the names of weights that the file may lack because they are about to be trained.
    Raises ModelUnavailable when it is not on this machine, not of this kind, incomplete or damaged.
    """
    folder, name = located(name_or_path, mend), shown_name(name_or_path)
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(threads)
    try:
        config = demand_kind(folder, name, kind, mend)
        if untrained and kind.outputs:
            config.num_labels = kind.outputs  # a base may have been trained for something else before
        auto = getattr(transformers, kind.auto)
        model, told = auto.from_pretrained(folder, config=config, output_loading_info=True, **_SAFELY)
        if absent := [key for key in sorted(told["missing_keys"]) if not untrained or not key.startswith(untrained)]:
            raise ModelUnavailable(f"{name} is not {kind.words}: its weights lack {absent[0]}", mend)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, split_special_tokens=True
        )
        _read_special_tokens_as_text(tokenizer)
        version = fingerprint(folder / "config.json", *sorted(folder.glob("*.safetensors")))
    except ModelUnavailable:
        raise
    except Exception as error:  # damaged files raise whatever the readers of json, safetensors and tokenizers raise
        raise ModelUnavailable(f"{name} is damaged or incomplete ({type(error).__name__})", mend) from error
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


def demand_kind(folder: Path, name: str, kind: Kind, mend: str) -> Any:
    """The configuration of the model in `folder`; ModelUnavailable when no model of its type can be of this kind."""
    import transformers

    config = _config(folder, name, mend)
    if type(config) not in getattr(transformers, kind.auto)._model_mapping:
        raise ModelUnavailable(f"{name} is a model of the type {config.model_type}, not {kind.words}", mend)
    return config


def _config(folder: Path, name: str, mend: str) -> Any:
    """The model's configuration; a type that transformers does not know would need code of the model's own."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelUnavailable(
            f"{name} has a config.json that cannot be read, or is of a type that needs code of its own", mend
        ) from error
