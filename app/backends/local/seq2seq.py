"""A sequence-to-sequence language model in this process: FLAN-T5 of any size, or a similar model.

`complete` decodes greedily, or with beams; `choose` computes the likelihood of each option, so its probabilities are
exact. Only safetensors weights are read, and a model's own code is never run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.backends.hub import require_model_folder, shown_name
from app.backends.local.inference_queue import Inference, LazyModel
from app.backends.local.weight_files import fingerprint
from app.config import FLASK
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Usage
from app.domain.ports import OptionChoice

FIX = f"{FLASK} models fetch flan-t5, or FLAN_T5 with the folder of a model"
WINDOW = 512
"""Prompt tokens if neither tokenizer nor configuration sets a limit; FLAN-T5 sets this one."""
MAX_STATED_TOKENS = 1_000_000
"""Larger limits mean none: a tokenizer without a limit reports 10^30."""
_SAFE_OPTIONS = {"use_safetensors": True, "trust_remote_code": False, "local_files_only": True}


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A transformers tokenizer and model, and a name that identifies the weights."""

    tokenizer: Any
    model: Any
    version: str


class Seq2Seq:
    """Implements `TextGenerator`. Loaded once, at its first use; runs in the inference queue.

    A prompt longer than the model's window is truncated at its beginning: prompts end with the question, so only
    evidence and demonstrations are cut.
    """

    destination: str | None = None

    def __init__(
        self, name_or_path: str, inference: Inference | None = None, threads: int = 1, fix: str = FIX, beams: int = 1
    ) -> None:
        """`threads` limits PyTorch, `beams` is the number of beams of `complete`; 1 decodes greedily."""
        self.name = shown_name(name_or_path)
        self._beams = beams
        self._inference = inference or Inference()
        self._loaded = LazyModel(self._inference, partial(load, name_or_path, threads, fix), self.name)

    def load(self) -> Pretrained:
        """Return the model. Raises ModelUnavailable, and CallFailed when loading takes too long."""
        return self._loaded()

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """Return the continuation of `prompt`, cut before the first stop string.

        Raises ModelUnavailable, and CallFailed when the output is not a number or the call takes too long.
        """
        weights = self.load()
        request = {"prompt": prompt, "max_tokens": max_tokens, "stop": list(stop)}
        request |= {"beams": self._beams} if self._beams > 1 else {}
        return cached_call(Call(weights.version, request), lambda: self._completed(weights, prompt, max_tokens, stop))

    def choose(self, prompt: str, options: Sequence[str]) -> OptionChoice:
        """Return the likeliest option with its probability among `options`. Raises as `complete` does."""
        weights = self.load()
        request = {"prompt": prompt, "options": list(options)}
        scores = cached_call(Call(weights.version, request), lambda: self._scored(weights, prompt, options))
        best = max(scores)
        total = sum(math.exp(score - best) for score in scores)
        return OptionChoice(options[scores.index(best)], 1 / total)

    def _completed(self, weights: Pretrained, prompt: str, max_tokens: int, stop: Sequence[str]) -> str:
        text, read, written = self._inference.run(lambda: _generated(weights, prompt, max_tokens, self._beams))
        report_usage(Usage(1, read, written))
        return min((text.partition(mark)[0] for mark in stop), key=len, default=text).strip()

    def _scored(self, weights: Pretrained, prompt: str, options: Sequence[str]) -> list[float]:
        scores, read = self._inference.run(lambda: _log_likelihoods(weights, prompt, options))
        report_usage(Usage(1, read))
        return scores


def load(name_or_path: str, threads: int, fix: str) -> Pretrained:
    """Load the model in evaluation mode and float32, on at most `threads` cores.

    Raises ModelUnavailable when it is not on this machine, of another kind, incomplete or damaged.
    """
    folder, name = require_model_folder(name_or_path, fix), shown_name(name_or_path)
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(threads)
    try:
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        problem = f"{name} has a config.json that cannot be read, or is of a type that needs code of its own"
        raise ModelUnavailable(problem, fix) from error
    auto_class, kind = transformers.AutoModelForSeq2SeqLM, "a sequence-to-sequence model like FLAN-T5"
    if type(config) not in auto_class._model_mapping:  # transformers has no public list of them
        raise ModelUnavailable(f"{name} is a model of the type {config.model_type}, not {kind}", fix)
    try:
        model, info = auto_class.from_pretrained(folder, config=config, output_loading_info=True, **_SAFE_OPTIONS)
        if missing := sorted(info["missing_keys"]):
            raise ModelUnavailable(f"{name} is not {kind}: its weights lack {missing[0]}", fix)
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


def _encoded(weights: Pretrained, prompt: str) -> Any:
    """Return the encoding of the prompt's last tokens, as many as the model accepts: tensors [1, tokens]."""
    config, tokenizer = weights.model.config, weights.tokenizer
    stated = (getattr(config, name, None) for name in ("n_positions", "max_position_embeddings"))
    limits = (int(tokenizer.model_max_length), *stated)
    window = min((limit for limit in limits if limit and limit < MAX_STATED_TOKENS), default=WINDOW)
    tokenizer.truncation_side = "left"
    return tokenizer(prompt, truncation=True, max_length=window, return_tensors="pt")


def _generated(weights: Pretrained, prompt: str, max_tokens: int, beams: int) -> tuple[str, int, int]:
    """Return the text and the numbers of tokens read and written. Raises CallFailed when a score is not a number."""
    import torch

    inputs = _encoded(weights, prompt)
    with torch.inference_mode():
        output = weights.model.generate(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            max_new_tokens=max_tokens,
            do_sample=False,
            num_beams=beams,
            output_logits=True,
            return_dict_in_generate=True,
        )
    if any(torch.isnan(step).any() for step in output.logits):
        raise CallFailed("The model's output is not a number.")
    text = weights.tokenizer.decode(output.sequences[0], skip_special_tokens=True)
    return text, inputs["input_ids"].numel(), len(output.logits)


def _log_likelihoods(weights: Pretrained, prompt: str, options: Sequence[str]) -> tuple[list[float], int]:
    """Return log p(option | prompt) for each option, end token included, and the number of tokens read."""
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    inputs = _encoded(weights, prompt)
    targets = weights.tokenizer(text_target=list(options), padding=True, return_tensors="pt")
    counted = targets["attention_mask"].bool()
    labels = targets["input_ids"].masked_fill(~counted, -100)
    with torch.inference_mode():
        # The prompt is the long part, so it is read once for all options.
        prompt_inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        encoded = weights.model.get_encoder()(**prompt_inputs).last_hidden_state
        output = weights.model(
            encoder_outputs=BaseModelOutput(encoded.expand(len(options), -1, -1)),
            attention_mask=inputs["attention_mask"].expand(len(options), -1),
            labels=labels,
        )
    log_probabilities = torch.log_softmax(output.logits.float(), dim=-1)
    target_log_probabilities = log_probabilities.gather(-1, targets["input_ids"][..., None]).squeeze(-1)
    scores = target_log_probabilities.masked_fill(~counted, 0.0).sum(dim=-1)
    if not torch.isfinite(scores).all():
        raise CallFailed("The model's output is not a number.")
    return scores.tolist(), inputs["input_ids"].numel()
