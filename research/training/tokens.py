"""Store transcripts as tokens of the base's own vocabulary in one file, and put them into batches.

The file also describes the base, so that training needs the file, the base, and no other package than PyTorch,
transformers, numpy and safetensors.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from research.training.fine_tuning import Batch

if TYPE_CHECKING:
    from research.training.transcripts import Example

log = logging.getLogger(__name__)

MAX_TOKENS = 1400
"""Longer transcripts are left out."""
VERDICTS = ("true", "false", "open")
WINDOW = 1024
"""Transcripts among which those of one batch have similar lengths."""


def tokenizer_of(base: Path) -> Any:
    """Return the tokenizer of a GGUF file."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(base.parent, gguf_file=base.name)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Transcripts one after the other: transcript n has the places `starts[n]` to `starts[n + 1]`."""

    about: dict[str, Any]
    """The base (gguf_base.describe), a hash of the examples, and the names of the sources."""
    tokens: np.ndarray
    weights: np.ndarray
    others: np.ndarray
    """A token that is right as well, or -1."""
    starts: np.ndarray
    sources: np.ndarray
    held_out: np.ndarray
    verdict_at: np.ndarray
    """Place of the last verdict within its transcript; -1 without one."""
    right: np.ndarray
    """Right words of that verdict, a row of len(VERDICTS) flags for each transcript."""
    words: np.ndarray
    """The tokens of VERDICTS."""

    @classmethod
    def of(cls, examples: Iterable[Example], tokenizer: Any, base: dict[str, Any]) -> Tokens:
        """Tokenise each part on its own, as a run does with prompts and continuations."""

        def encode(texts: Sequence[str]) -> list[list[int]]:
            return tokenizer(list(texts), add_special_tokens=False)["input_ids"]

        words = dict(zip(VERDICTS, (found[0] for found in encode([f" {word}" for word in VERDICTS])), strict=True))
        digest, left_out = hashlib.sha256(), 0
        tokens: list[int] = []
        weights: list[float] = []
        others: list[int] = []
        starts, sources, held_out, verdict_at, right = [0], [], [], [], []
        for example in examples:
            found = encode([part.text for part in example.parts])
            if sum(map(len, found)) > MAX_TOKENS:
                left_out += 1
                continue
            digest.update(repr(example).encode(errors="surrogatepass"))
            at, last = 0, -1
            said: tuple[str, ...] = ()
            for part, ids in zip(example.parts, found, strict=True):
                if part.verdicts:
                    last, said = at, part.verdicts
                tokens += ids
                weights += [part.weight] * len(ids)
                others += [words[part.verdicts[1]] if len(part.verdicts) > 1 else -1, *[-1] * (len(ids) - 1)]
                at += len(ids)
            starts.append(len(tokens))
            sources.append(example.source)
            held_out.append(example.held_out)
            verdict_at.append(last)
            right.append([word in said for word in VERDICTS])
        if left_out:
            log.info("%d transcripts have more than %d tokens and are left out", left_out, MAX_TOKENS)
        names = sorted(set(sources))
        return cls(
            {"base": base, "data_hash": digest.hexdigest()[:16], "sources": names},
            np.array(tokens, np.uint32),
            np.array(weights, np.float16),
            np.array(others, np.int32),
            np.array(starts, np.int64),
            np.array([names.index(source) for source in sources], np.int16),
            np.array(held_out, bool),
            np.array(verdict_at, np.int32),
            np.array(right, bool).reshape(-1, len(VERDICTS)),
            np.array([words[word] for word in VERDICTS], np.int64),
        )

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name) for name in self.__slots__ if name != "about"}
        np.savez_compressed(path, about=np.array(json.dumps(self.about)), **arrays)

    @classmethod
    def load(cls, path: Path) -> Tokens:
        with np.load(path) as found:
            return cls(
                json.loads(str(found["about"])), **{name: found[name] for name in found.files if name != "about"}
            )

    def rows(self, held_out: bool) -> list[int]:
        """Return the transcripts that are held out, or those that are not, in order."""
        return np.flatnonzero(self.held_out == held_out).tolist()

    def length(self, row: int) -> int:
        return int(self.starts[row + 1] - self.starts[row])

    def batch(self, rows: Sequence[int]) -> Batch:
        """Return tensors [len(rows), longest]; padding has the weight 0."""
        width = max(map(self.length, rows))
        batch = {
            "tokens": torch.zeros(len(rows), width, dtype=torch.int64),
            "weights": torch.zeros(len(rows), width),
            "others": torch.full((len(rows), width), -1),
        }
        for at, row in enumerate(rows):
            place = slice(int(self.starts[row]), int(self.starts[row + 1]))
            for name, filled in batch.items():
                values = getattr(self, name)[place]
                filled[at, : len(values)] = torch.from_numpy(values.astype(np.float64))
        return batch


@dataclass(frozen=True, slots=True)
class Batches(Sequence[Batch]):
    """Batches made when they are needed."""

    tokens: Tokens
    groups: Sequence[Sequence[int]]

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, at: Any) -> Any:
        return self.tokens.batch(self.groups[at])


def batches_of(tokens: Tokens, rows: Sequence[int], max_tokens: int, seed: int) -> Batches:
    """Return the rows in batches of at most `max_tokens` with padding (or one row), shuffled within each WINDOW."""
    rng = np.random.default_rng(seed)
    groups: list[list[int]] = []
    for start in range(0, len(rows), WINDOW):
        window: list[list[int]] = [[]]
        for row in sorted(rows[start : start + WINDOW], key=tokens.length):
            if window[-1] and (len(window[-1]) + 1) * tokens.length(row) > max_tokens:
                window.append([])
            window[-1].append(row)
        groups += [window[at] for at in rng.permutation(len(window))]
    return Batches(tokens, groups)
