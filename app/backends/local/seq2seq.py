"""A sequence-to-sequence language model in this process: FLAN-T5 of any size, or a similar model.

`complete` decodes greedily, or with beams; `choose` computes the likelihood of each option, so its probabilities are
exact. Runs in the inference queue, like every local model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from app.backends.local.inference_queue import Inference
from app.backends.local.loading import SEQ2SEQ, HubModel, Pretrained, load, token_limit
from app.config import FLASK
from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Usage
from app.domain.ports import Choice

WINDOW = 512
"""Prompt tokens if neither tokenizer nor configuration sets a limit; FLAN-T5 sets this one."""


class Seq2Seq(HubModel[Pretrained]):
    """Implements `TextGenerator`.

    A prompt longer than the model's window is truncated at its beginning: prompts end with the question, so only
    evidence and demonstrations are cut.
    """

    FIX = f"{FLASK} models fetch flan-t5, or FLAN_T5 with the folder of a model"
    destination: str | None = None

    def __init__(
        self, name_or_path: str, inference: Inference | None = None, threads: int = 1, fix: str = "", beams: int = 1
    ) -> None:
        """`beams` is the number of beams of `complete`; 1 decodes greedily."""
        super().__init__(name_or_path, inference, threads, fix)
        self._beams = beams

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """Return the continuation of `prompt`, cut before the first stop string.

        Raises ModelUnavailable, and CallFailed when the output is not a number or the call takes too long.
        """
        weights = self.load()
        request = {"prompt": prompt, "max_tokens": max_tokens, "stop": list(stop)}
        request |= {"beams": self._beams} if self._beams > 1 else {}
        return cached_call(Call(weights.version, request), lambda: self._completed(weights, prompt, max_tokens, stop))

    def choose(self, prompt: str, options: Sequence[str]) -> Choice:
        """Return the likeliest option with its probability among `options`. Raises as `complete` does."""
        weights = self.load()
        request = {"prompt": prompt, "options": list(options)}
        scores = cached_call(Call(weights.version, request), lambda: self._scored(weights, prompt, options))
        best = max(scores)
        total = sum(math.exp(score - best) for score in scores)
        return Choice(options[scores.index(best)], 1 / total)

    def _load(self, name_or_path: str, threads: int, fix: str) -> Pretrained:
        return load(name_or_path, SEQ2SEQ, threads, fix)

    def _completed(self, weights: Pretrained, prompt: str, max_tokens: int, stop: Sequence[str]) -> str:
        text, read, written = self._inference.run(lambda: _generated(weights, prompt, max_tokens, self._beams))
        report_usage(Usage(1, read, written))
        return min((text.partition(mark)[0] for mark in stop), key=len, default=text).strip()

    def _scored(self, weights: Pretrained, prompt: str, options: Sequence[str]) -> list[float]:
        scores, read = self._inference.run(lambda: _log_likelihoods(weights, prompt, options))
        report_usage(Usage(1, read))
        return scores


def _encoded(weights: Pretrained, prompt: str) -> Any:
    """Return the encoding of the prompt's last tokens, as many as the model accepts: tensors [1, tokens]."""
    config = weights.model.config
    positions = (getattr(config, name, None) for name in ("n_positions", "max_position_embeddings"))
    limits = (token_limit(weights.tokenizer), *positions)
    window = min((limit for limit in limits if limit), default=WINDOW)
    weights.tokenizer.truncation_side = "left"
    return weights.tokenizer(prompt, truncation=True, max_length=window, return_tensors="pt")


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
