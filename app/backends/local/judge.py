"""Entailment judge: claim and evidence -> probabilities of supports, refutes, not enough.

An adapter and a classification head over SmolLM2-135M, trained by research/training/judge.py.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.backends.local.inference_queue import Inference, LazyModel
from app.backends.local.loading import fingerprint
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Usage
from app.domain.ports import Asked, Bounds
from app.text.sentences import judge_prompt, select_sentences

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


# Padding-free batches: texts of different lengths are concatenated into one row. Only attention mixes tokens, so only
# attention needs the boundaries. The output equals a padded batch's, except for rounding.

ATTENTION = "text by text"


def use_packed_attention(model: PreTrainedModel) -> None:
    """Make a transformers model accept packed batches (`pack_batch`), and no longer padded ones."""
    from transformers import AttentionInterface

    AttentionInterface.register(ATTENTION, packed_attention)
    model.set_attn_implementation(ATTENTION)


def pack_batch(texts: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the model's arguments for non-empty texts of token ids, as one row [1, tokens of all texts]."""
    import torch

    return {
        "input_ids": torch.tensor([[token for text in texts for token in text]]),
        "position_ids": torch.cat([torch.arange(len(text)) for text in texts])[None],
        "lengths": [len(text) for text in texts],
    }


def packed_attention(
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
    """Compute the attention of each text separately, with the signature that transformers requires.

    `query`, `key` and `value` are [1, heads, tokens, head size]; the output is [1, tokens, heads, head size].
    """
    import torch

    group_size = query.shape[1] // key.shape[1]  # query heads per key head (grouped-query attention)
    key, value = (part.repeat_interleave(group_size, dim=1) if group_size > 1 else part for part in (key, value))
    texts = zip(*(part.split(list(lengths), dim=2) for part in (query, key, value)), strict=True)
    attended = [
        torch.nn.functional.scaled_dot_product_attention(*text, scale=scaling, is_causal=module.is_causal)
        for text in texts
    ]
    return torch.cat(attended, dim=2).transpose(1, 2), None


CLASSES = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE")
MAX_TOKENS = 512
LIBRARIES = ("torch", "transformers.models.llama.modeling_llama")
BASE_FIX, ADAPTER_FIX = "make setup", "git checkout app/models"
"""Commands that restore the base model and the adapter."""

Probabilities = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Values fitted on held-out pairs after training (temperature scaling: Guo et al., 2017)."""

    temperature: float = 1.0
    """Divisor of the logits."""
    sufficient: float = 0.6
    """Minimum probability for a verdict."""
    supported: float | None = None
    """Minimum probability for SUPPORTED; `sufficient` when None."""

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.sufficient if self.supported is None else self.supported, self.sufficient)

    @classmethod
    def read(cls, folder: Path) -> Calibration:
        """Read `folder`/calibration.json. Raises ModelUnavailable when it is missing or damaged."""
        try:
            return cls(**json.loads((folder / "calibration.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ModelUnavailable("The judge's calibration is missing or damaged", ADAPTER_FIX) from error


def _read_model(base: Path, adapter: Path) -> PreTrainedModel:
    """Return the classifier with the adapter merged into its weights, which then adds no cost at inference."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification
    from transformers.initialization import no_init_weights

    config = AutoConfig.from_pretrained(base, num_labels=len(CLASSES), dtype=torch.float32)
    weights = _merged_weights(base, adapter)
    with no_init_weights():  # no random values for weights that are about to be replaced
        model = AutoModelForSequenceClassification.from_config(config)
    # Without the language-model head that a base may have.
    model.load_state_dict({name: weights[name] for name in model.state_dict()}, assign=True)
    # The embedding keeps the file's type, float16 for the packaged base: the rows are exact, in less memory.
    model.get_input_embeddings().register_forward_hook(lambda _module, _ids, rows: rows.float())
    use_packed_attention(model)
    return model.eval()


def _merged_weights(base: Path, adapter: Path) -> dict[str, Tensor]:
    """Return the classifier's weights: W + alpha / r * B A for each matrix with a LoRA adapter (Hu et al., 2021)."""
    import torch
    from safetensors import safe_open

    settings = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    if settings.get("use_rslora") or settings.get("use_dora"):
        raise ValueError("the adapter is no plain LoRA")
    scale = settings["lora_alpha"] / settings["r"]
    weights = {}
    with (
        safe_open(base / "model.safetensors", "pt") as whole,
        safe_open(adapter / "adapter_model.safetensors", "pt") as added,
    ):
        names = set(added.keys())
        for name in whole.keys():  # noqa: SIM118 - safe_open is no mapping
            weight, prefix = whole.get_tensor(name), f"base_model.model.{name.removesuffix('.weight')}"
            weights[name] = weight.clone() if "embed_tokens" in name else weight.to(torch.float32, copy=True)
            if f"{prefix}.lora_A.weight" in names:
                a, b = (added.get_tensor(f"{prefix}.lora_{each}.weight").float() for each in "AB")
                weights[name] += (b @ a) * scale
        weights["score.weight"] = added.get_tensor("base_model.model.score.weight").float()
    return weights


class EntailmentJudge:
    """Implements EntailmentModel over a base model folder and an adapter folder. Loaded once, at the first use."""

    def __init__(self, base: Path, adapter: Path, threads: int = 2, inference: Inference | None = None) -> None:
        """`inference` is the process's queue; without it the judge creates its own. `threads` limits PyTorch."""
        self.base, self.adapter, self.threads = base, adapter, threads
        self.calibration = Calibration()
        self._inference = inference or Inference()
        self._weights = LazyModel(self._inference, self._read, libraries=LIBRARIES)
        self._tokenizing = threading.Lock()

    @property
    def version(self) -> str:
        """The judge's name with fingerprints of its files. Raises ModelUnavailable and CallFailed, as `load` does."""
        return self.load()[2]

    @property
    def bounds(self) -> Bounds:
        """Minimum probabilities for a verdict. Raises ModelUnavailable."""
        return Calibration.read(self.adapter).bounds

    def load(self) -> tuple[Any, Any, str]:
        """Return the tokenizer, the model and its version name.

        Raises ModelUnavailable, and CallFailed when loading takes too long.
        """
        return self._weights()

    def classify(
        self, pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]], asked: Sequence[Asked] = ()
    ) -> list[Probabilities]:
        """Return probabilities for each (claim, (title, text) passages) pair, in one batch. No pairs, no call.

        `asked` has the (question, answer) pairs that led to the evidence, a list for each pair, or is empty.

        Evidence of more than MAX_JUDGE_WORDS words (sentences.py) is shortened by sentence selection; a prompt that is
        longer than the window loses its beginning. Raises ModelUnavailable, and CallFailed when a probability is not a
        number or the call times out.
        """
        if not pairs:
            return []
        tokenizer, model, name = self.load()
        prompts = [
            judge_prompt(claim, select_sentences(claim, passages), questions)
            for (claim, passages), questions in zip(pairs, asked or [()] * len(pairs), strict=True)
        ]
        rows = cached_call(Call(name, {"prompts": prompts}), lambda: self._judged(tokenizer, model, prompts))
        return [tuple(row) for row in rows]

    def _judged(self, tokenizer: Any, model: Any, prompts: list[str]) -> list[list[float]]:
        rows, tokens = self._inference.run(lambda: self._forward(tokenizer, model, prompts), alone=False)
        report_usage(Usage(len(prompts), tokens))
        if not all(math.isfinite(value) for row in rows for value in row):
            raise CallFailed("The judge returned values that are not numbers.")
        return rows

    def _forward(self, tokenizer: Any, model: Any, prompts: list[str]) -> tuple[list[list[float]], int]:
        """Return a row of probabilities for each prompt, and the number of tokens read."""
        import torch

        with self._tokenizing:  # the tokenizer raises when two threads use it at once
            texts = tokenizer(prompts, truncation=True, max_length=MAX_TOKENS)["input_ids"]
        ends = torch.tensor([len(text) for text in texts]).cumsum(0) - 1
        with torch.inference_mode():
            logits = model.score(model.model(**pack_batch(texts)).last_hidden_state[0, ends])
        rows: list[list[float]] = torch.softmax(logits.float() / self.calibration.temperature, dim=-1).tolist()
        return rows, sum(len(text) for text in texts)

    def _read(self) -> tuple[Any, Any, str]:
        files = (
            (self.base / "model.safetensors", BASE_FIX),
            (self.adapter / "adapter_model.safetensors", ADAPTER_FIX),
        )
        for needed, fix in files:
            if not needed.is_file():
                raise ModelUnavailable(f"The judge's file {needed.name} is missing from {needed.parent}", fix)
        import torch
        from transformers import AutoTokenizer

        try:
            torch.set_num_threads(self.threads)
            self.calibration = Calibration.read(self.adapter)
            # Truncate on the left, since the claim comes last. Special tokens' names in a text are ordinary text.
            tokenizer = AutoTokenizer.from_pretrained(self.base, truncation_side="left", split_special_tokens=True)
            model = _read_model(self.base, self.adapter)
            name = f"judge {fingerprint(*(file for file, _ in files), self.adapter / 'calibration.json')}"
        except ModelUnavailable:
            raise
        except Exception as error:  # json, safetensors and PyTorch raise many types for damaged files
            problem = f"The judge could not be loaded ({type(error).__name__}: {error})"
            raise ModelUnavailable(problem, f"{BASE_FIX}, or {ADAPTER_FIX}") from error
        return tokenizer, model, name
