"""How a question and a passage become the reader's input, and how a pair of tokens becomes characters again.

Training and inference share it. BERT's form is used: [CLS] question [SEP] title. text [SEP], token types 0 and 1. A
passage that does not fit is read in overlapping windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerFast

MAX_TOKENS = 256
STRIDE = 64
MAX_QUESTION_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the reader.

    `token_ids` and `token_types` are the model's; `words[i]` is the (start, end) in the passage's text of the word that
    token i belongs to, or None for a token that cannot be part of an answer (question, title, [CLS], [SEP]).
    `passage` is the passage's place among those that are read together.
    """

    passage: int
    token_ids: tuple[int, ...]
    token_types: tuple[int, ...]
    words: tuple[tuple[int, int] | None, ...]

    @property
    def text_words(self) -> int:
        """How many tokens could be part of an answer."""
        return sum(word is not None for word in self.words)


def tokenizer_from(path: Path) -> PreTrainedTokenizerFast:
    """The tokenizer in a tokenizer.json. "[SEP]" in a passage is five characters to it and never the separator."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path), pad_token="[PAD]")
    tokenizer.backend_tokenizer.encode_special_tokens = True
    return tokenizer


def windows(
    tokenizer: PreTrainedTokenizerFast, question: str, title: str, text: str, passage: int = 0
) -> Iterator[Window]:
    """The windows of one passage in order; none when its text holds no token."""
    head = f"{title}. " if title else ""
    encoded = tokenizer(
        _shortened(tokenizer, question),
        head + text,
        truncation="only_second",
        max_length=MAX_TOKENS,
        stride=STRIDE,
        return_overflowing_tokens=True,
        return_token_type_ids=True,
    )
    for encoding in encoded.encodings:
        window = Window(passage, tuple(encoding.ids), tuple(encoding.type_ids), _words_of(encoding, len(head)))
        if window.text_words:
            yield window


def _shortened(tokenizer: PreTrainedTokenizerFast, question: str) -> str:
    """The question cut after its first tokens: without it, an endless question would leave a passage no room."""
    offsets = tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return question[: offsets[MAX_QUESTION_TOKENS - 1][1]] if len(offsets) > MAX_QUESTION_TOKENS else question


def _words_of(encoding, head: int) -> tuple[tuple[int, int] | None, ...]:
    """Token by token the character range of its whole word: an answer never begins or ends inside a word."""
    ranges: dict[int, tuple[int, int]] = {}
    places: list[int | None] = []
    for word, sequence, (start, end) in zip(encoding.word_ids, encoding.sequence_ids, encoding.offsets, strict=True):
        inside = sequence == 1 and start >= head and end > start
        places.append(word if inside else None)
        if inside:
            first, last = ranges.get(word, (start - head, end - head))
            ranges[word] = (min(first, start - head), max(last, end - head))
    return tuple(None if place is None else ranges[place] for place in places)


def as_batch(group: Sequence[Window], pad: int) -> dict[str, Tensor]:
    """The model's inputs for some windows, padded on the right: int64 and bool tensors [windows, longest].

    `answerable_tokens` marks the tokens of the passages' text; the rest is what a BERT model takes by these names.
    """
    import torch

    longest = max(len(window.token_ids) for window in group)

    def padded(rows: list[Sequence[int]], filler: int) -> Tensor:
        return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])

    return {
        "input_ids": padded([w.token_ids for w in group], pad),
        "token_type_ids": padded([w.token_types for w in group], 0),
        "attention_mask": padded([[1] * len(w.token_ids) for w in group], 0),
        "answerable_tokens": padded([[word is not None for word in w.words] for w in group], 0).bool(),
    }
