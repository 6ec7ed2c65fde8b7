"""An extractive reader named by hub name or folder: RoBERTa on SQuAD 2.0, or any other model of that kind.

The windows are made with the model's own tokenizer, so a model of any family works. As usual for SQuAD 2.0, the score
of the first token means that a window has no answer, and the best span must score higher (Devlin et al., 2019, section
4.3).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from app.backends.local.loading import EXTRACTIVE_QA, HubModel, Pretrained, load, shown_name
from app.backends.local.reader import answer_of, is_plausible, limit_windows, span_scores
from app.backends.local.reader_windows import MAX_QUESTION_TOKENS, MAX_TITLE_TOKENS, Window, as_batch, words_of
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Answer, Passage, Question, Usage

MAX_TOKENS = 384
"""Tokens of one window, as in the training of SQuAD readers; fewer if the model's window is smaller."""
STRIDE = 128

Rated = tuple[Window, int, int, float]
"""A window, the characters [start, end) of its best span, and the span's margin over "no answer" in logits."""


class HubReader(HubModel[Pretrained]):
    """Implements `Reader`."""

    FIX = "flask --app app models fetch reader, or READER with the folder of a model"

    def read(self, question: Question, passages: Sequence[Passage]) -> Answer:
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
        plausible = [
            each for each in rated if is_plausible(question, passages[each[0].passage_index].text[each[1] : each[2]])
        ]
        if not plausible:
            return {"span": None, "score": 0.0}
        window, start, end, margin = max(plausible, key=lambda each: each[3])
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
