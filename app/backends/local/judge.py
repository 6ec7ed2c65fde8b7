"""The judge: claim and evidence -> probabilities of supports, refutes, not enough.

A small adapter and head over SmolLM2-135M (research/training/judge.py makes them; the card is beside the weights).
Loaded once, on first use, off the request path.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.backends.local.inference_queue import Inference
from app.backends.local.loading import Loaded, fingerprint
from app.domain.calls import Call, cached_call
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.model import Usage
from app.domain.progress import used
from app.text.evidence import judge_prompt, select_sentences

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


# Several texts of different lengths in one forward pass, without padding: their tokens stand one after the other.
#
# Every layer but attention looks at one token at a time, so only attention has to know where a text ends. What comes
# out is what a padded batch gives, but for rounding, in less time by the share of the padding
# (research/notes/2026-11-22-judge.md, "How fast").

ATTENTION = "text by text"


def take_packed(model: PreTrainedModel) -> None:
    """Make a model of transformers take what `packed` gives. It takes no padded batch any more."""
    from transformers import AttentionInterface

    AttentionInterface.register(ATTENTION, attend)
    model.set_attn_implementation(ATTENTION)


def packed(texts: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The model's arguments for texts given as token ids, none empty: a batch of one row [1, tokens of all texts]."""
    import torch

    return {
        "input_ids": torch.tensor([[token for text in texts for token in text]]),
        "position_ids": torch.cat([torch.arange(len(text)) for text in texts])[None],
        "lengths": [len(text) for text in texts],
    }


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    *,
    lengths: Sequence[int],
    **_: Any,
) -> tuple[Tensor, None]:
    """Each text's attention by itself, in the form transformers asks for.

    `query`, `key` and `value` are [1, heads, tokens, head size]; the first of what is returned is [1, tokens, heads,
    head size].
    """
    import torch

    shared = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(shared, dim=1) if shared > 1 else part for part in (key, value))
    texts = zip(*(part.split(list(lengths), dim=2) for part in (query, key, value)), strict=True)
    attended = [
        torch.nn.functional.scaled_dot_product_attention(*text, scale=scaling, is_causal=module.is_causal)
        for text in texts
    ]
    return torch.cat(attended, dim=2).transpose(1, 2), None


CLASSES = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE")
MAX_TOKENS = 512
LIBRARIES = ("torch", "transformers.models.llama.modeling_llama", "peft")
UNPACK, RESTORE = "make setup", "git checkout app/models"
"""What mends the base model and what mends the weights that ship."""

Probabilities = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is fitted on held-out pairs after training and lives beside the weights.

    Logits are divided by `temperature`; `sufficient` is the probability of a decided class (supports or refutes) from
    which the evidence counts as enough.
    """

    temperature: float = 1.0
    sufficient: float = 0.6

    @classmethod
    def read(cls, folder: Path) -> Calibration:
        """From `folder`/calibration.json. Raises ModelUnavailable when it is missing or damaged."""
        try:
            return cls(**json.loads((folder / "calibration.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ModelUnavailable(
                "The judge's calibration is missing or damaged", "git checkout app/models"
            ) from error


class EntailmentJudge:
    """Implements EntailmentModel over a base model folder and an adapter folder."""

    def __init__(self, base: Path, adapter: Path, threads: int = 2, inference: Inference | None = None) -> None:
        """`threads` bounds PyTorch; `inference` is the process's queue, left out the judge has one for itself."""
        self.base, self.adapter, self.threads = base, adapter, threads
        self.calibration = Calibration()
        self._inference = inference or Inference()
        self._weights = Loaded(self._inference, self._read, libraries=LIBRARIES)
        self._tokenizing = threading.Lock()

    def load(self) -> tuple[Any, Any, str]:
        """Tokenizer, model, and the name of this very model, loaded once.

        Raises ModelUnavailable when its files are missing or damaged.
        """
        return self._weights()

    def classify(self, pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[Probabilities]:
        """Probabilities for each (claim, (title, text) passages) pair, in one batch. No pairs, no call.

        Evidence past the window is selected by sentence (evidence_text). Raises CallFailed when a probability is not
        a number or the call takes too long.
        """
        if not pairs:
            return []
        tokenizer, model, name = self.load()
        prompts = [judge_prompt(claim, select_sentences(claim, passages)) for claim, passages in pairs]
        rows = cached_call(Call(name, {"prompts": prompts}), lambda: self._judged(tokenizer, model, prompts))
        return [tuple(row) for row in rows]

    def _judged(self, tokenizer: Any, model: Any, prompts: list[str]) -> list[list[float]]:
        """Rows of probabilities, in the order of CLASSES."""
        rows, tokens = self._inference.run(lambda: self._forward(tokenizer, model, prompts), alone=False)
        used(Usage(len(prompts), tokens))
        if not all(math.isfinite(value) for row in rows for value in row):
            raise CallFailed("The judge returned values that are not numbers.")
        return rows

    def _forward(self, tokenizer: Any, model: Any, prompts: list[str]) -> tuple[list[list[float]], int]:
        """Return a row of probabilities for each prompt, and how many tokens were read."""
        import torch

        with self._tokenizing:  # it refuses two threads at once
            texts = tokenizer(prompts, truncation=True, max_length=MAX_TOKENS)["input_ids"]
        ends = torch.tensor([len(text) for text in texts]).cumsum(0) - 1
        with torch.inference_mode():
            logits = model.score(model.model(**packed(texts)).last_hidden_state[0, ends])
        rows: list[list[float]] = torch.softmax(logits.float() / self.calibration.temperature, dim=-1).tolist()
        return rows, sum(len(text) for text in texts)

    def _read(self) -> tuple[Any, Any, str]:
        files = (
            (self.base / "model.safetensors", UNPACK),
            (self.adapter / "adapter_model.safetensors", RESTORE),
        )
        for needed, fix in files:
            if not needed.is_file():
                raise ModelUnavailable(f"The judge's file {needed.name} is missing from {needed.parent}", fix)
        import torch
        from peft import PeftModel
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging as transformers_log

        # It would report the head as missing from the base, which it is: the adapter brings it.
        transformers_log.set_verbosity_error()
        transformers_log.disable_progress_bar()
        try:
            torch.set_num_threads(self.threads)
            self.calibration = Calibration.read(self.adapter)
            # A "word" of thousands of tokens must not push the claim, which stands last, out of the window.
            # A special token's name in a text is text.
            tokenizer = AutoTokenizer.from_pretrained(self.base, truncation_side="left", split_special_tokens=True)
            bare = AutoModelForSequenceClassification.from_pretrained(
                self.base, num_labels=len(CLASSES), dtype=torch.float32, pad_token_id=tokenizer.pad_token_id
            )
            # Merged, the adapter costs nothing at inference.
            model = PeftModel.from_pretrained(bare, self.adapter).merge_and_unload().eval()
            take_packed(model)
            name = f"judge {fingerprint(*(file for file, _ in files), self.adapter / 'calibration.json')}"
        except ModelUnavailable:
            raise
        except Exception as error:  # damaged files raise whatever the readers of json, safetensors and peft raise
            told = f"The judge could not be loaded ({type(error).__name__}: {error})"
            raise ModelUnavailable(told, f"{UNPACK}, or {RESTORE}") from error
        return tokenizer, model, name
