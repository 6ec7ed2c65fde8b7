"""Encode a question and a passage as the reader's input, and map tokens back to characters.

Training and inference share it. BERT's form is used: [CLS] question [SEP] title. text [SEP], token types 0 and 1. A
passage that does not fit is read in overlapping windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
    from torch import Tensor

MAX_TOKENS = 256
STRIDE = 64
MAX_QUESTION_TOKENS = 64
MAX_TITLE_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Window:
    """One input window of the reader.

    `token_ids` and `token_types` are the model's; `word_ranges[i]` is the (start, end) in the passage's text of the
    word that contains token i, or None for a token that cannot be part of an answer (question, title, [CLS], [SEP]).
    `passage_index` is the passage's index among those that are read together.
    """

    passage_index: int
    token_ids: tuple[int, ...]
    token_types: tuple[int, ...]
    word_ranges: tuple[tuple[int, int] | None, ...]


def tokenizer_from(path: Path) -> Tokenizer:
    """Load the tokenizer from a tokenizer.json. It reads "[SEP]" in a passage as plain text, not as the separator."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def windows(tokenizer: Tokenizer, question: str, title: str, text: str, passage_index: int = 0) -> Iterator[Window]:
    """Return the windows of one passage in order, each with the question and the title; none for an empty text."""
    first, separator = _special(tokenizer, "[CLS]"), _special(tokenizer, "[SEP]")
    asked = tokenizer.encode(question, add_special_tokens=False).ids[:MAX_QUESTION_TOKENS]
    head = tokenizer.encode(f"{title}. ", add_special_tokens=False).ids[:MAX_TITLE_TOKENS] if title else []
    encoding = tokenizer.encode(text, add_special_tokens=False)
    words = words_of(encoding)
    before = [first, *asked, separator]
    room = MAX_TOKENS - len(before) - len(head) - 1
    for at in range(0, len(words), room - STRIDE):
        part = slice(at, at + room)
        yield Window(
            passage_index,
            (*before, *head, *encoding.ids[part], separator),
            (*[0] * len(before), *[1] * (len(head) + len(words[part]) + 1)),
            (*[None] * (len(before) + len(head)), *words[part], None),
        )
        if at + room >= len(words):
            break


def _special(tokenizer: Tokenizer, token: str) -> int:
    token_id = tokenizer.token_to_id(token)
    if token_id is None:
        raise ValueError(f"the tokenizer knows no {token}")
    return token_id


def words_of(encoding: Encoding) -> list[tuple[int, int]]:
    """Return the character range of each token's whole word: an answer never begins or ends inside a word."""
    ranges: dict[tuple[int | None, int | None], tuple[int, int]] = {}
    words = list(zip(encoding.sequence_ids, encoding.word_ids, strict=True))
    for word, (start, end) in zip(words, encoding.offsets, strict=True):
        first, last = ranges.get(word, (start, end))
        ranges[word] = (min(first, start), max(last, end))
    return [ranges[word] for word in words]


def as_batch(group: Sequence[Window], pad: int) -> dict[str, Tensor]:
    """Return the model's inputs for some windows, padded on the right: int64 and bool tensors [windows, longest].

    `answerable_tokens` marks the tokens of the passages' text; the other names are those of BERT's inputs.
    """
    import torch

    longest = max(len(window.token_ids) for window in group)

    def padded(rows: list[Sequence[int]], filler: int) -> Tensor:
        return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])

    return {
        "input_ids": padded([w.token_ids for w in group], pad),
        "token_type_ids": padded([w.token_types for w in group], 0),
        "attention_mask": padded([[1] * len(w.token_ids) for w in group], 0),
        "answerable_tokens": padded([[word is not None for word in w.word_ranges] for w in group], 0).bool(),
    }
