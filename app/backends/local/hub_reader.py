"""An extractive reader named by hub name or folder: RoBERTa on SQuAD 2.0, or any other model of that kind.

The windows are made with the model's own tokenizer, so a model of any family works. As usual for SQuAD 2.0, the score
of the first token means that a window has no answer, and the best span must score higher (Devlin et al., 2019, section
4.3).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from app.backends.local.loading import EXTRACTIVE_QA, HubModel, Pretrained, load, shown_name
from app.config import FLASK
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Answer, Claim, Context, Passage, Question, Span, Usage
from app.text.sentences import content_words

if TYPE_CHECKING:
    from tokenizers import Encoding
    from torch import Tensor

MAX_TOKENS = 384
"""Tokens of one window, as in the training of SQuAD readers; fewer if the model's window is smaller."""
STRIDE = 128
MAX_QUESTION_TOKENS = 64
MAX_TITLE_TOKENS = 32
MAX_WINDOWS = 16
"""Maximum number of windows read for a question: enough for ten passages, some of which need two windows."""
MAX_ANSWER_TOKENS = 24


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


Rated = tuple[Window, int, int, float]
"""A window, the characters [start, end) of its best span, and the span's margin over "no answer" in logits."""


class HubReader(HubModel[Pretrained]):
    """Implements `Reader`."""

    FIX = f"{FLASK} models fetch reader, or READER with the folder of a model"

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer:
        """Return the best span of `passages`, or an Answer without text (None) if "no answer" always scores higher.

        `score` is the probability of an answer, not calibrated; 0 if no span can be an answer.
        Raises ModelUnavailable, and CallFailed when the model's output is not a number or the call takes too long.
        """
        weights = self.load()
        texts = [[passage.title, passage.text] for passage in passages]
        call = Call(weights.version, {"question": question.text, "passages": texts})
        reply = cached_call(call, lambda: self._answered(weights, question.text, passages))
        return answer_of(reply, passages)

    def _load(self, name_or_path: str, threads: int, fix: str) -> Pretrained:
        return read_files(name_or_path, threads, fix)

    def _answered(self, weights: Pretrained, question: str, passages: Sequence[Passage]) -> dict[str, Any]:
        """Return the span (passage number, start, end) or None, and the score, as `answer_of` reads them."""
        rated = self._inference.run(lambda: _rated_windows(weights, question, passages))
        if rated:
            report_usage(Usage(1, sum(len(window.token_ids) for window, *_ in rated)))
        if not rated:
            return {"span": None, "score": 0.0}
        window, start, end, margin = max(rated, key=lambda each: each[3])
        return {"span": (window.passage_index, start, end) if margin > 0 else None, "score": _sigmoid(margin)}


def read_files(name_or_path: str, threads: int, fix: str, untrained: str | None = None) -> Pretrained:
    """Load the model and its tokenizer. `untrained` is the head that training is about to add (loading.py).

    Raises ModelUnavailable for a model that is not a reader, or cannot express that there is no answer.
    """
    weights = load(name_or_path, EXTRACTIVE_QA, threads, fix, untrained)
    tokenizer = weights.tokenizer
    first = tokenizer("a", "b")["input_ids"][0]
    if not tokenizer.is_fast:
        raise ModelUnavailable(
            f"{shown_name(name_or_path)} has no fast tokenizer, so its answers cannot be located", fix
        )
    if first != tokenizer.cls_token_id:
        problem = "does not begin its input with a [CLS] token, so it cannot express that there is no answer"
        raise ModelUnavailable(f"{shown_name(name_or_path)} {problem}", fix)
    return weights


def windows_of(tokenizer: Any, question: str, passage: Passage, index: int) -> Iterator[Window]:
    """Yield the windows of one passage, as the model's tokenizer encodes a question and a text."""
    asked = _cut(tokenizer, question, MAX_QUESTION_TOKENS)
    head = f"{_cut(tokenizer, passage.title, MAX_TITLE_TOKENS)}. " if passage.title else ""
    pair = tokenizer(
        asked,
        head + passage.text,
        truncation="only_second",
        max_length=min(MAX_TOKENS, tokenizer.model_max_length),
        stride=STRIDE,
        return_overflowing_tokens=True,
    )
    for encoding in pair.encodings:
        words = [
            _answer_range(head + passage.text, len(head), token, word) if part == 1 else None
            for part, token, word in zip(encoding.sequence_ids, encoding.offsets, words_of(encoding), strict=True)
        ]
        if any(words):
            yield Window(index, tuple(encoding.ids), tuple(encoding.type_ids), tuple(words))


def _answer_range(
    text: str, title_length: int, token: tuple[int, int], word: tuple[int, int]
) -> tuple[int, int] | None:
    """Return the range in the passage of the token's word, without marks around it; None for a word of the title.

    `text` is the title, `title_length` characters long, and the passage. The token itself is never trimmed, except for
    the space before it, which some tokenizers count. A token of marks only is a word of its own.
    """
    end = token[1]
    start = next((at for at in range(*token) if not text[at].isspace()), end)
    if all(_is_mark(each) for each in text[start:end]):
        first, last = start, end
    else:
        first = next((at for at in range(word[0], start) if not _is_mark(text[at])), start)
        last = next((at for at in range(word[1], end, -1) if not _is_mark(text[at - 1])), end)
    return (first - title_length, last - title_length) if first >= title_length and last > first else None


def _is_mark(character: str) -> bool:
    """Return whether the character is white space or punctuation, in any script."""
    return character.isspace() or unicodedata.category(character)[0] == "P"


def _cut(tokenizer: Any, text: str, tokens: int) -> str:
    (encoding,) = tokenizer(text, add_special_tokens=False).encodings
    return text if len(encoding.ids) <= tokens else text[: encoding.offsets[tokens - 1][1]]


def _rated_windows(weights: Pretrained, question: str, passages: Sequence[Passage]) -> list[Rated]:
    """Return the best span of each window. Runs in the queue, because the tokenizer is not thread-safe."""
    windows = (windows_of(weights.tokenizer, question, passage, index) for index, passage in enumerate(passages))
    chosen = limit_windows(list(chain.from_iterable(windows)), question, passages)
    return _rated(weights, chosen) if chosen else []


def _rated(weights: Pretrained, group: Sequence[Window]) -> list[Rated]:
    """Return the best span of each window, from one forward pass. Raises CallFailed when a logit is not a number."""
    import torch

    batch = as_batch(group, pad=weights.tokenizer.pad_token_id or 0)
    inside = batch.pop("answerable_tokens")
    with torch.inference_mode():
        output = weights.model(**{name: batch[name] for name in batch if name in weights.tokenizer.model_input_names})
    if not (torch.isfinite(output.start_logits).all() and torch.isfinite(output.end_logits).all()):
        raise CallFailed("The reader's output is not a number.")
    inside[:, 0] = True  # the first token's score is that of "no answer"
    scores = span_scores(output.start_logits, output.end_logits, inside)
    no_answer = scores[:, 0, 0].clone()
    scores[:, 0, :] = float("-inf")
    best, places = scores.flatten(1).max(dim=1)
    longest = inside.shape[1]
    return [
        (window, window.word_ranges[at // longest][0], window.word_ranges[at % longest][1], margin)
        for window, at, margin in zip(group, places.tolist(), (best - no_answer).tolist(), strict=True)
    ]


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))


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


def answer_of(reply: dict[str, Any], passages: Sequence[Passage]) -> Answer:
    """Return the answer in a cached reply: `span`, as (index of the passage, start, end) or None, and `score`."""
    cited = Span(passages[reply["span"][0]], *reply["span"][1:]) if reply["span"] else None
    return Answer(cited.text if cited else None, cited, tuple(passages), score=reply["score"])


def limit_windows(every: list[Window], question: str, passages: Sequence[Passage]) -> list[Window]:
    """Return at most MAX_WINDOWS windows: those that share the most words with the question.

    Without the limit a book-length page would take minutes.
    """
    if len(every) <= MAX_WINDOWS:
        return every
    question_words = content_words(question)

    def shared_words(window: Window) -> int:
        ranges = [each for each in window.word_ranges if each is not None]
        text = passages[window.passage_index].text[ranges[0][0] : ranges[-1][1]]
        return len(question_words & content_words(text))

    return sorted(every, key=shared_words, reverse=True)[:MAX_WINDOWS]


def span_scores(starts: Tensor, ends: Tensor, allowed_tokens: Tensor) -> Tensor:
    """Return log p(first token) + log p(last token) as [windows, first, last]; -inf for invalid spans.

    `starts` and `ends` are logits and `allowed_tokens` is bool, all [windows, tokens]; only allowed tokens get a
    probability. A span is invalid if it ends before it starts or has more than MAX_ANSWER_TOKENS tokens.
    """
    import torch

    floor = torch.finfo(starts.dtype).min
    first = torch.log_softmax(starts.masked_fill(~allowed_tokens, floor), dim=-1)
    last = torch.log_softmax(ends.masked_fill(~allowed_tokens, floor), dim=-1)
    pairs = first[:, :, None] + last[:, None, :]
    tokens = starts.shape[1]
    every_pair = torch.ones(tokens, tokens, dtype=torch.bool)
    right_length = every_pair.triu() & every_pair.tril(MAX_ANSWER_TOKENS - 1)
    valid = allowed_tokens[:, :, None] & allowed_tokens[:, None, :] & right_length
    return pairs.masked_fill(~valid, float("-inf"))
