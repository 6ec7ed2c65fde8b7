"""The judge: claim and evidence -> probabilities of supports, refutes, not enough.

A small adapter and head over SmolLM2-135M (app/training/entailment.py makes them; the card is beside the weights).
Loaded once, on first use, off the request path.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.language.evidence_text import judge_prompt, select_sentences
from app.reasoning.errors import CallFailed, ModelUnavailable
from app.reasoning.progress import used
from app.reasoning.types import Usage

CLASSES = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE")
MAX_TOKENS = 512
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

    def __init__(self, base: Path, adapter: Path, threads: int = 2) -> None:
        self.base, self.adapter, self.threads = base, adapter, threads
        self.calibration = Calibration()
        self._lock = threading.Lock()
        self._loaded = None

    def load(self) -> None:
        """Load the model unless it is loaded; raises ModelUnavailable when its files are missing or damaged."""
        with self._lock:
            self._ensure()

    def classify(self, pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[Probabilities]:
        """Probabilities for each (claim, (title, text) passages) pair, in one batch. No pairs, no call.

        Evidence past the window is selected by sentence (evidence_text). Raises CallFailed when a probability is not
        a number.
        """
        if not pairs:
            return []
        with self._lock:
            tokenizer, model = self._ensure()
            import torch

            prompts = [judge_prompt(claim, select_sentences(claim, passages)) for claim, passages in pairs]
            inputs = tokenizer(prompts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
            with torch.inference_mode():
                logits = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
            rows = torch.softmax(logits.float() / self.calibration.temperature, dim=-1).tolist()
        used(Usage(len(pairs), int(inputs["attention_mask"].sum())))
        if any(math.isnan(value) for row in rows for value in row):
            raise CallFailed("The judge returned values that are not numbers.")
        return [tuple(row) for row in rows]

    def _ensure(self):
        if self._loaded is None:
            self._loaded = self._read()
        return self._loaded

    def _read(self):
        for needed, mend in (
            (self.base / "model.safetensors", UNPACK),
            (self.adapter / "adapter_model.safetensors", RESTORE),
        ):
            if not needed.is_file():
                raise ModelUnavailable(f"The judge's file {needed.name} is missing from {needed.parent}", mend)
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
            tokenizer = AutoTokenizer.from_pretrained(self.base)
            bare = AutoModelForSequenceClassification.from_pretrained(
                self.base, num_labels=len(CLASSES), dtype=torch.float32, pad_token_id=tokenizer.pad_token_id
            )
            # Merged, the adapter costs nothing at inference.
            model = PeftModel.from_pretrained(bare, self.adapter).merge_and_unload().eval()
        except ModelUnavailable:
            raise
        except Exception as error:  # damaged files raise whatever the readers of json, safetensors and peft raise
            told = f"The judge could not be loaded ({type(error).__name__}: {error})"
            raise ModelUnavailable(told, f"{UNPACK}, or {RESTORE}") from error
        return tokenizer, model
